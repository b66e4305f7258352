//! What is found out while building: which commit a release is built from, and which languages there are.

mod commit;
mod locales;

fn main() {
    println!("cargo:rerun-if-changed=build");
    commit::tell();
    locales::list();
}
