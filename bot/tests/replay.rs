//! The program as people run it: arguments, files and standard input go in; files, text and an exit code come out.

mod cli;
