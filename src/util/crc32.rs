//! CRC-32 as in ISO 3309 and ZIP. It detects damage, but not tampering.

use std::sync::LazyLock;

use crc::{CRC_32_ISO_HDLC, Crc, Digest, NoTable, Table};

/// Sixteen tables of 1 KiB, computed on first use. They are incompressible, so storing them would
/// take a thirtieth of the Worker's size.
static CRC32: LazyLock<Crc<u32, Table<16>>> =
    LazyLock::new(|| Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC));

pub fn crc32(bytes: &[u8]) -> u32 {
    CRC32.checksum(bytes)
}

/// Like [`crc32`], but without tables. For short inputs.
pub fn crc32_without_tables(bytes: &[u8]) -> u32 {
    const { Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC) }.checksum(bytes)
}

/// Starts a CRC-32 over several slices.
pub fn crc32_of_pieces() -> Digest<'static, u32, Table<16>> {
    CRC32.digest()
}
