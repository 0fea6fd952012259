//! A connector catalog and connection vault at the edge.

pub mod access;
pub mod api;
pub mod catalog;
pub mod crc32;
#[cfg(feature = "worker")]
pub mod edge;
pub mod fold;
#[cfg(feature = "cli")]
pub mod importer;
pub mod nearest;
#[cfg(feature = "cli")]
pub mod operator;
pub mod ports;

#[cfg(all(target_arch = "wasm32", feature = "worker", feature = "client"))]
compile_error!("the Worker and the client are two wasm modules: build them apart");
