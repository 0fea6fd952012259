//! Runs tests of WebAssembly in Node and in browsers: the `wasm-bindgen-test-runner` of wasm-bindgen, without its TLS.

fn main() -> anyhow::Result<()> {
    wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(std::env::args_os())
}
