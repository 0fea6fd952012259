//! CRC-32 as in ISO 3309 and zip. It detects damage and does not protect against tampering.

use std::sync::LazyLock;

use crc::{CRC_32_ISO_HDLC, Crc, Digest, NoTable, Table};

/// The sixteen tables of 1 KiB are computed on first use: they can't be compressed, so storing them would take a
/// thirtieth of the Worker.
static CRC32: LazyLock<Crc<u32, Table<16>>> =
    LazyLock::new(|| Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC));

pub fn crc32(bytes: &[u8]) -> u32 {
    CRC32.checksum(bytes)
}

/// Like [`crc32`], for a few bytes, without the tables.
pub fn crc32_without_tables(bytes: &[u8]) -> u32 {
    const { Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC) }.checksum(bytes)
}

/// A CRC-32 over several pieces.
pub fn crc32_of_pieces() -> Digest<'static, u32, Table<16>> {
    CRC32.digest()
}
