//! Byte buffers in JavaScript memory.

use std::any::Any;
use std::ops::Range;

use js_sys::Uint8Array;

use crate::ports::Blob;

/// A buffer in JavaScript memory. Reading copies only the requested range.
#[derive(Debug)]
pub struct Buffer(pub Uint8Array);

impl Blob for Buffer {
    fn size(&self) -> usize {
        self.0.length() as usize
    }

    fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        if range.start > range.end || range.end > self.size() {
            return None;
        }
        let (start, end) = (u32::try_from(range.start).ok()?, u32::try_from(range.end).ok()?);
        Some(self.0.subarray(start, end).to_vec())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
