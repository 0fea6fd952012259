//! Writes the glue of a WebAssembly module, as `wasm-bindgen` does: `bindgen worker|package MODULE FOLDER`.

use std::env::args;

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let given: Vec<String> = args().skip(1).collect();
    let [kind, module, folder] = given.as_slice() else {
        bail!("usage: bindgen worker|package MODULE FOLDER");
    };
    let mut bindgen = Bindgen::new();
    match kind.as_str() {
        // After a trap, the next call creates a new instance of the module.
        "worker" => {
            bindgen.module(true)?.reset_state_function(true).force_enable_abort_handler(true)
        }
        // The package passes the module to the glue, which must not locate it itself.
        "package" => bindgen.web(true)?.omit_default_module_path(true),
        other => bail!("`{other}` is neither `worker` nor `package`"),
    };
    bindgen.input_path(module).out_name("index").typescript(kind == "package").generate(folder)
}
