//! What every system has to do alike, tested once. Tests of one system's own ways stand beside its
//! code.

use std::fs;
use std::io;
use std::path::Path;

use super::*;

/// A path below a folder of the test.
fn path_in(dir: &tempfile::TempDir, name: &str) -> FilePath {
    FilePath::new(&dir.path().join(name)).unwrap()
}

#[test]
fn a_file_is_created_once_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = path_in(&dir, "f");
    let file = WriteFile::create(&path).unwrap();
    file.write_byte().unwrap();
    file.close().unwrap();
    let again = WriteFile::create(&path).map(drop).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(stat_size(&path).unwrap(), 1);
    let mut buffer = [0; 2];
    let file = ReadFile::open(&path).unwrap();
    assert_eq!(file.read_byte().unwrap(), b'x');
    assert_eq!(file.read_byte().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 1);
    assert_eq!(file.read_at(&mut buffer, 1).unwrap(), 0);
    file.close().unwrap();
    path.unlink().unwrap();
    assert_eq!(stat_size(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(FilePath::new(Path::new("a\0b")).is_err());
}

#[test]
fn blocks_are_written_and_read_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = path_in(&dir, "f");
    let file = match WriteFile::create_as(&path, Access::Durable) {
        // Wine does not obey.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => WriteFile::create(&path),
        other => other,
    }
    .unwrap();
    assert_eq!((file.write(b"one").unwrap(), file.write(b"two").unwrap()), (3, 3));
    file.sync_data().unwrap();
    file.close().unwrap();
    let file = WriteFile::open_as(&path, Access::Buffered).unwrap();
    assert_eq!(file.write_at(b"2", 3).unwrap(), 1);
    file.sync_all().unwrap();
    file.close().unwrap();
    let file = ReadFile::open_as(&path, Access::Buffered).unwrap();
    let mut buffer = [0; 4];
    assert_eq!((file.read(&mut buffer).unwrap(), &buffer), (4, b"one2"));
    assert_eq!((file.read(&mut buffer).unwrap(), &buffer[..2]), (2, &b"wo"[..]));
    assert_eq!(file.read(&mut buffer).unwrap(), 0);
}

#[test]
fn a_file_is_written_and_read_from_its_start_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = path_in(&dir, "f");
    let to = WriteFile::create(&path).unwrap();
    assert_eq!(to.write(b"first").unwrap(), 5);
    to.rewind().unwrap();
    assert_eq!(to.write(b"b").unwrap(), 1);
    let from = ReadFile::open(&path).unwrap();
    let mut buffer = [0; 8];
    for _ in 0..2 {
        assert_eq!(from.read(&mut buffer).unwrap(), 5);
        assert_eq!(&buffer[..5], b"birst");
        assert_eq!(from.read(&mut buffer).unwrap(), 0);
        from.rewind().unwrap();
    }
}

#[test]
fn names_are_made_changed_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let path = |name: &str| path_in(&dir, name);
    fs::write(at("a"), b"x").unwrap();
    fs::write(at("b"), b"y").unwrap();
    path("a").rename_to(&path("b")).unwrap();
    assert!(!at("a").exists() && fs::read(at("b")).unwrap() == b"x");
    assert_eq!(path("a").rename_to(&path("b")).unwrap_err().kind(), io::ErrorKind::NotFound);
    path("folder").make_folder().unwrap();
    assert!(at("folder").is_dir());
    let again = path("folder").make_folder().unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    path("folder").remove_folder().unwrap();
    assert!(!at("folder").exists());
    assert!(path("b").remove_folder().is_err(), "files are removed by another call");
}

#[test]
fn a_mapped_file_is_read_and_unmapped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, vec![1; 3 * page_size()]).unwrap();
    let file = MappedFile::map(&fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(file.touch(&[0, page_size(), 3 * page_size() - 1]), 3);
    file.unmap().unwrap();
    fs::write(&path, b"").unwrap();
    assert!(MappedFile::map(&fs::File::open(&path).unwrap()).is_err(), "nothing to map");
}

#[test]
fn the_volume_of_a_folder_is_known() {
    let here = volume(&std::env::temp_dir()).unwrap();
    assert!(here.size == 0 || here.free <= here.size, "{here:?}");
    let missing = volume(Path::new("/not/there")).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

#[test]
fn as_many_threads_wait_as_were_added_and_they_end_when_told() {
    let mut held = hold_threads().unwrap();
    assert!(held.add().is_err(), "room first");
    held.make_room(20).unwrap();
    (0..20).for_each(|_| held.add().unwrap());
    held.all_wait().unwrap();
    held.footprint();
    held.keep(5).unwrap();
    (0..15).for_each(|_| held.add().unwrap());
    assert!(held.add().is_err(), "no more than room was made for");
    held.keep(0).unwrap();
}

#[test]
fn an_impossible_cpu_set_is_an_error() {
    assert!(!allowed_cpus().unwrap().is_empty());
    assert!(pin_to(&[]).is_err());
}

#[test]
fn used_time_grows_with_work() {
    let before = usage();
    let mut sum = 0u64;
    while usage().since(&before).user_ns == 0 {
        sum = std::hint::black_box(sum + 1);
    }
}

#[test]
fn clocks_go_forward_and_are_known_by_name() {
    for name in ["monotonic", "monotonicraw", "realtime", "boottime", "cputime"] {
        let clock = match Clock::open(name) {
            // Windows has three of them.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => continue,
            other => other.unwrap(),
        };
        let start = clock.now_ns();
        let mut sum = 0u64;
        while clock.now_ns() <= start {
            sum = std::hint::black_box(sum + 1);
        }
    }
    assert_eq!(Clock::open("sun").unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn memory_is_touched_used_and_given_back() {
    let mut region = Region::map(10 * page_size()).unwrap();
    assert_eq!(region.touch(page_size()), 10);
    let mut region = Region::map(4096 + 12).unwrap();
    assert_eq!(region.words().len(), 513);
    assert!(region.words().iter().all(|word| *word == 0));
    region.words()[512] = 7;
    assert_eq!(region.words()[512], 7);
}
