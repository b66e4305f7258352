//! Models as they are really asked, over HTTP on this machine: recorded exchanges, servers that misbehave, and llama.cpp.

mod embed;
mod exchanges;
mod litellm;
mod llama;
mod local_server;
mod logs;
mod manners;
mod minds;
mod money;
mod replay;
mod tools;
mod trouble;
