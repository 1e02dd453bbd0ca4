//! A shared library that is nothing but names of addresses, as the bytes of its ELF file.
//!
//! The format is that of the System V ABI, "Object Files" and "Dynamic Linking" (64 bits, little-endian):
//! a header, two segments, the dynamic section, and what it points to: symbols, their hash table, their
//! names. There is no section header: the loader needs none.

const HEADER_BYTES: u64 = 64;
const SEGMENT_BYTES: u64 = 56;
const DYNAMIC_BYTES: u64 = 16;
const SYMBOL_BYTES: u64 = 24;

const ELF64_LITTLE_ENDIAN: [u8; 16] = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0";
const SHARED_OBJECT: u16 = 3;
const MACHINE: u16 = if cfg!(target_arch = "aarch64") {
    183
} else {
    62
};
const LOADED: u32 = 1;
const DYNAMIC: u32 = 2;
/// glibc before 2.35 notes in the dynamic section where it has put it.
const READ_AND_WRITE: u32 = 6;
/// The largest page of the machines that we know.
const PAGE_BYTES: u64 = 0x10000;
const GLOBAL_FUNCTION: u8 = 1 << 4 | 2;
/// The section of symbols that do not move with their library.
const ABSOLUTE: u16 = 0xfff1;

/// The file of a library in which each of these names is an absolute address.
pub(crate) fn image(symbols: &[(&str, u64)]) -> Vec<u8> {
    // The first symbol, and the first name, are those of nothing.
    let count = symbols.len() as u64 + 1;
    let mut names = vec![0];
    let mut table = vec![0; SYMBOL_BYTES as usize];
    for (name, address) in symbols {
        table.extend((names.len() as u32).to_le_bytes());
        table.extend([GLOBAL_FUNCTION, 0]);
        table.extend(ABSOLUTE.to_le_bytes());
        table.extend(address.to_le_bytes());
        table.extend(0u64.to_le_bytes());
        names.extend(name.as_bytes());
        names.push(0);
    }
    // One bucket, so that every look-up walks the whole list: it is done once a module and name.
    let mut hash = vec![1, count as u32, 1, 0];
    hash.extend((2..count as u32).chain([0]));
    let dynamic_at = HEADER_BYTES + 2 * SEGMENT_BYTES;
    let table_at = dynamic_at + 6 * DYNAMIC_BYTES;
    let hash_at = table_at + count * SYMBOL_BYTES;
    let names_at = hash_at + 4 * hash.len() as u64;
    let dynamic: [(u64, u64); 6] = [
        (4, hash_at),             // DT_HASH
        (5, names_at),            // DT_STRTAB
        (6, table_at),            // DT_SYMTAB
        (10, names.len() as u64), // DT_STRSZ
        (11, SYMBOL_BYTES),       // DT_SYMENT
        (0, 0),                   // DT_NULL
    ];
    let mut file = header();
    file.extend(segment(
        LOADED,
        0,
        names_at + names.len() as u64,
        PAGE_BYTES,
    ));
    file.extend(segment(DYNAMIC, dynamic_at, table_at - dynamic_at, 8));
    for (tag, value) in dynamic {
        file.extend(tag.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend(table);
    file.extend(hash.into_iter().flat_map(u32::to_le_bytes));
    file.extend(names);
    file
}

fn header() -> Vec<u8> {
    let mut header = ELF64_LITTLE_ENDIAN.to_vec();
    header.extend(SHARED_OBJECT.to_le_bytes());
    header.extend(MACHINE.to_le_bytes());
    header.extend(1u32.to_le_bytes());
    // No entry; the segments follow; no sections; no flags.
    for word in [0, HEADER_BYTES, 0] {
        header.extend(word.to_le_bytes());
    }
    header.extend(0u32.to_le_bytes());
    let sizes = [HEADER_BYTES as u16, SEGMENT_BYTES as u16, 2, 0, 0, 0];
    header.extend(sizes.into_iter().flat_map(u16::to_le_bytes));
    header
}

fn segment(kind: u32, at: u64, bytes: u64, alignment: u64) -> Vec<u8> {
    let mut segment = kind.to_le_bytes().to_vec();
    segment.extend(READ_AND_WRITE.to_le_bytes());
    // Its place in the file, in memory, and physically, which nobody asks for.
    for word in [at, at, at, bytes, bytes, alignment] {
        segment.extend(word.to_le_bytes());
    }
    segment
}
