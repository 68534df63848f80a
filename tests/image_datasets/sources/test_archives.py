"""Hostile and broken zips: refused by name, without memory, and nothing is touched elsewhere."""

import io
import stat
import struct
import subprocess
import sys
import tracemalloc
import zipfile
import zlib

import pytest

from image_datasets.errors import BadArchive, BadImage, BadName, BadSource, DuplicateName
from image_datasets.sources.archives import ArchiveLimits, decoded_name, is_clutter, open_archive
from tests.image_datasets.drawn_files import encoded, plain, scene, written_zip

MIB = 1 << 20


def refusal(path, problem=BadArchive, **options):
    with pytest.raises(problem) as caught:
        open_archive(path, **options)
    assert caught.value.remedy.endswith(".")
    return str(caught.value)


def entry_named(name, **attributes):
    info = zipfile.ZipInfo(name)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info


def raw_zip(path, *entries):
    """A zip written by hand, so that it can lie: (name, data, changes of the directory entry)."""
    body, directory = io.BytesIO(), io.BytesIO()
    for name, data, lies in entries:
        packed = zlib.compress(data, 9)[2:-4]
        facts = {
            "flags": 0,
            "method": 8,
            "crc": zlib.crc32(data),
            "packed": len(packed),
            "size": len(data),
            "offset": body.tell(),
            "header_name": name,
            "attributes": 0,
        } | lies
        fields = (facts["method"], 0, 0, facts["crc"], facts["packed"], facts["size"])
        header_name = facts["header_name"]
        body.write(
            struct.pack("<4s3H2H3L2H", b"PK\3\4", 20, facts["flags"], *fields, len(header_name), 0)
        )
        body.write(header_name + packed)
        directory.write(
            struct.pack(
                "<4s4H2H3L5H2L",
                *(b"PK\1\2", 20, 20, facts["flags"], *fields, len(name), 0, 0, 0, 0),
                *(facts["attributes"], facts["offset"]),
            )
        )
        directory.write(name)
    start, listed = body.tell(), directory.getvalue()
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, len(entries), len(entries), len(listed), start, 0
    )
    path.write_bytes(body.getvalue() + listed + end)
    return path


# Honest zips


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_are_read_as_they_were_written(tmp_path, compression):
    files = {"b/2.png": encoded(scene(2)), "a/1.png": encoded(scene(1)), "empty": b""}
    entries = open_archive(written_zip(tmp_path / "a.zip", files, compression))
    assert {entry.name: entry.read(MIB) for entry in entries} == files
    assert [entry.name for entry in entries] == sorted(files)


def test_a_streamed_zip_and_its_folders_are_read(tmp_path):
    class Stream(io.RawIOBase):
        """A target that cannot go back, so that sizes follow the data."""

        def __init__(self):
            self.content = bytearray()

        def writable(self):
            return True

        def write(self, data):
            self.content += data
            return len(data)

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("a")
        archive.writestr("a/1.txt", b"words" * 1000)
    path = tmp_path / "a.zip"
    path.write_bytes(stream.content)
    (entry,) = open_archive(path)
    assert (entry.name, entry.read(MIB)) == ("a/1.txt", b"words" * 1000)


def test_a_zip64_is_read(tmp_path, monkeypatch):
    # With this limit the directory, too, is written in the large form.
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 0)
    path = tmp_path / "a.zip"
    with (
        zipfile.ZipFile(path, "w") as archive,
        archive.open("a/1.png", "w", force_zip64=True) as file,
    ):
        file.write(plain())
    assert b"PK\6\6" in path.read_bytes()
    assert open_archive(path)[0].read(MIB) == plain()


def test_a_comment_at_the_end_is_no_harm(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a": b"x"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"holiday"
    assert open_archive(path)[0].read(MIB) == b"x"


@pytest.mark.parametrize(
    "name", ["__MACOSX/a/._1.jpg", ".DS_Store", "a/Thumbs.db", "a/.hidden/1.jpg", "a/desktop.ini"]
)
def test_clutter_is_known(name):
    assert is_clutter(name)
    assert not is_clutter("a/1.jpg")


# Names


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../outside.png", "leads out"),
        ("a/../../outside.png", "leads out"),
        ("/etc/passwd", "absolute path"),
        ("C:/windows/a.png", "absolute path"),
        ("c:a.png", "absolute path"),
        ("a\\..\\b.png", "backslash"),
        ("a//b.png", "empty part"),
        ("./a.png", "empty part"),
        ("a\nb.png", "control character"),
        ("a.png\0.exe", "control character"),
        ("a/" * 600, "longer than"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name, reason):
    path = raw_zip(tmp_path / "a.zip", (name.encode(), plain(), {}))
    assert reason in refusal(path, BadName)
    assert [file.name for file in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.parametrize("second", ["a/1.png", "A/1.PNG", "a/1.pnG"])
def test_names_that_are_equal_on_some_computers_are_refused(tmp_path, second):
    path = raw_zip(tmp_path / "a.zip", (b"a/1.png", b"x", {}), (second.encode(), b"y", {}))
    assert "same name" in refusal(path, DuplicateName)


def test_names_that_differ_only_in_how_an_accent_is_written_are_refused(tmp_path):
    names = ["e\u0301.png".encode(), "\u00e9.png".encode()]
    path = raw_zip(tmp_path / "a.zip", *((name, b"x", {"flags": 0x800}) for name in names))
    assert "same name" in refusal(path, DuplicateName)


def test_utf8_names_are_understood_with_and_without_the_flag(tmp_path):
    for flags in (0, 0x800):
        path = raw_zip(tmp_path / "a.zip", ("Kätzchen/é.png".encode(), b"x", {"flags": flags}))
        (entry,) = open_archive(path)
        assert (entry.name, entry.read(9)) == ("Kätzchen/é.png", b"x")


def test_a_file_name_that_is_not_utf8_can_be_shown_and_read(tmp_path):
    path = raw_zip(tmp_path / "a.zip", (b"cats/\x82t\x82.png", b"x", {}))
    (entry,) = open_archive(path)
    assert (entry.name, entry.read(9)) == ("cats/été.png", b"x")
    assert len({decoded_name(bytes([byte])) for byte in range(128, 256)}) == 128


def test_a_class_name_that_is_not_utf8_is_refused(tmp_path):
    path = raw_zip(tmp_path / "a.zip", (b"\x83l\x83R/1.png", b"x", {}))
    assert "Rename the folder" in refusal(path, BadName)


def test_a_name_that_only_claims_to_be_utf8_is_refused(tmp_path):
    path = raw_zip(tmp_path / "a.zip", (b"a/\xff.png", b"x", {"flags": 0x800}))
    assert "claims to be UTF-8" in refusal(path, BadName)


# Kinds of entries


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path, kind):
    info = entry_named("a/1.png", external_attr=(kind | 0o777) << 16, create_system=3)
    path = written_zip(tmp_path / "a.zip", {info: b"/etc/passwd"})
    assert ("symbolic link" if kind == stat.S_IFLNK else "neither a file") in refusal(path)


@pytest.mark.parametrize("name", ["a/more.zip", "a/more.tar.gz", "MORE.7Z", "a/b.rar"])
def test_archives_inside_are_refused(tmp_path, name):
    assert "archive inside" in refusal(written_zip(tmp_path / "a.zip", {name: b"PK"}))


def test_encrypted_entries_are_refused(tmp_path):
    path = raw_zip(tmp_path / "a.zip", (b"a/1.png", plain(), {"flags": 1}))
    assert "encrypted" in refusal(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_uncommon_compression_is_refused(tmp_path, compression):
    path = written_zip(tmp_path / "a.zip", {"a/1.png": plain()}, compression)
    assert "unusual" in refusal(path)


# Sizes


def test_more_entries_than_allowed_are_refused(tmp_path):
    path = written_zip(tmp_path / "a.zip", {f"a/{number}": b"" for number in range(11)})
    assert "more than 10 entries" in refusal(path, limits=ArchiveLimits(entries=10))
    assert len(open_archive(path, ArchiveLimits(entries=11))) == 11


def many_entries(path, count):
    """A directory of `count` entries that all lie about where they are, and a wrong number of them."""
    entry = struct.pack("<4s4H2H3L5H2L", b"PK\1\2", *([0] * 9), 4, *([0] * 6))
    local = struct.pack("<4s3H2H3L2H", b"PK\3\4", *([0] * 8), 4, 0) + b"0000"
    with path.open("wb") as file:
        file.write(local)
        file.writelines(entry + b"%04x" % (number & 0xFFFF) for number in range(count))
        size = file.tell() - len(local)
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, size, len(local), 0))
    return path


def test_a_hundred_thousand_entries_too_many_take_no_memory_and_no_time(tmp_path):
    path = many_entries(tmp_path / "a.zip", 300_000)
    tracemalloc.start()
    try:
        assert "more than 100,000 entries" in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 2 * MIB
    finally:
        tracemalloc.stop()


def test_one_entry_that_blows_up_is_refused(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a/1.png": bytes(20 * MIB), "b": encoded(scene(1))})
    assert "times its size" in refusal(path)


def test_many_entries_that_blow_up_together_are_refused(tmp_path):
    files = {f"a/{number}.png": bytes(MIB) for number in range(40)}
    assert "a.zip" in refusal(written_zip(tmp_path / "a.zip", files))


def test_the_total_size_and_the_size_of_one_entry_have_limits(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a": b"x" * 600, "b": b"x" * 600})
    assert "at most 1,000" in refusal(path, limits=ArchiveLimits(total_bytes=1000))
    assert "at most 500" in refusal(path, limits=ArchiveLimits(entry_bytes=500))


def test_an_entry_that_is_too_long_for_its_purpose_is_not_read(tmp_path):
    (entry,) = open_archive(written_zip(tmp_path / "a.zip", {"a": b"x" * 600}))
    with pytest.raises(BadImage, match="600 bytes; at most 500"):
        entry.read(500)


def test_entries_that_share_their_data_are_refused(tmp_path):
    path = raw_zip(tmp_path / "a.zip", (b"a", b"x" * 99, {}), (b"b", b"x" * 99, {"offset": 0}))
    assert "shares its data" in refusal(path)


MEMORY_SCRIPT = """
import resource, sys
from pathlib import Path
from image_datasets.sources.archives import open_archive
from image_datasets.errors import ImportProblem
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for entry in open_archive(Path(sys.argv[1])):
        entry.read(100_000_000)
except ImportProblem as problem:
    print(problem)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_an_entry_that_lies_about_its_size_is_stopped_while_it_is_read(tmp_path):
    path = raw_zip(tmp_path / "a.zip", (b"a/1.png", bytes(300 * MIB), {"size": 4000}))
    done = subprocess.run(
        [sys.executable, "-c", MEMORY_SCRIPT, path], capture_output=True, text=True, check=True
    )
    assert "longer than the zip says" in done.stdout
    assert int(done.stdout.split()[-1]) < 20_000


# Damage


@pytest.mark.parametrize(
    ("lies", "reason"),
    [
        ({"crc": 1}, "checksum"),
        ({"size": 99}, "longer than the zip says"),
        ({"size": 101}, "shorter than the zip says"),
        ({"header_name": b"b"}, "names it differently"),
        ({"method": 0}, "shorter than the zip says"),
    ],
)
def test_a_damaged_entry_is_one_bad_image_among_good_ones(tmp_path, lies, reason):
    good = (b"good", b"y", {})
    path = raw_zip(tmp_path / "a.zip", (b"a", b"x" * 100, lies), good)
    bad, fine = open_archive(path)
    with pytest.raises(BadImage, match=reason):
        bad.read(MIB)
    assert fine.read(MIB) == b"y"


def test_damaged_data_are_one_bad_image(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a": encoded(scene(1)), "b": b"fine"})
    content = bytearray(path.read_bytes())
    content[200:260] = b"\xff" * 60
    path.write_bytes(content)
    bad, fine = open_archive(path)
    with pytest.raises(BadImage, match=r"damaged"):
        bad.read(MIB)
    assert fine.read(MIB) == b"fine"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_zip_that_is_cut_off_is_refused(tmp_path, share):
    path = written_zip(tmp_path / "a.zip", {f"a/{n}.png": encoded(scene(n)) for n in range(4)})
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "upload was interrupted" in refusal(path)


def test_every_cut_and_every_damage_has_a_name(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a/1.png": plain(), "b/2.png": plain("red")})
    content = path.read_bytes()
    for place in range(len(content)):
        for broken in (content[:place], content[:place] + b"\xff" + content[place + 1 :]):
            path.write_bytes(broken)
            try:
                for entry in open_archive(path):
                    entry.read(MIB)
            except (BadSource, BadImage):
                continue


def test_an_empty_zip_is_refused(tmp_path):
    assert "is empty" in refusal(written_zip(tmp_path / "a.zip", {}))


# Polyglots


def test_a_zip_behind_a_picture_is_not_read_as_a_zip(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a/1.png": plain()})
    path.write_bytes(encoded(scene(1), "JPEG") + path.read_bytes())
    assert "with a zip inside" in refusal(path)


def test_a_zip_with_something_between_its_parts_is_refused(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a/1.png": plain()})
    content = path.read_bytes()
    start = content.index(b"PK\1\2")
    path.write_bytes(content[:start] + b"<script>" + content[start:])
    assert "between its parts" in refusal(path)


def test_a_second_zip_in_front_of_a_zip_is_refused(tmp_path):
    first = written_zip(tmp_path / "a.zip", {"a/1.png": plain()})
    second = written_zip(tmp_path / "b.zip", {"b/1.png": plain("red")})
    first.write_bytes(first.read_bytes() + second.read_bytes())
    assert "extra bytes before" in refusal(first)


def test_something_behind_a_zip_is_refused(tmp_path):
    path = written_zip(tmp_path / "a.zip", {"a/1.png": plain()})
    path.write_bytes(path.read_bytes() + b"<script>alert(1)</script>")
    assert "end of the zip" in refusal(path)
