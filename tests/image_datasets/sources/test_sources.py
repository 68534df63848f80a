"""Everything a researcher may upload, and what is said when something does not fit."""

import os
import pickle
import stat
import tracemalloc
import zipfile
from collections import Counter

import numpy as np
import pytest

from image_datasets.errors import (
    BadArchive,
    BadFeatures,
    BadImage,
    BadManifest,
    BadName,
    BadSource,
    DuplicateName,
    ImportProblem,
    TooFewImages,
    WrongClasses,
)
from image_datasets.pictures.encoding import prepare
from image_datasets.sources import check_classes, open_source
from image_datasets.sources.archives import ArchiveLimits
from tests.image_datasets.drawn_files import class_files, plain, written_folder, written_zip

NOISE = np.random.default_rng(1).bytes(1_500_000)


@pytest.fixture
def workdir(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(params=["folder", "zip", "wrapped zip"])
def packed(request, tmp_path):
    """Packs files in one of the ways that must make no difference."""

    def pack(files):
        if request.param == "folder":
            return written_folder(tmp_path / "images", files)
        prefix = "my pictures/" if request.param == "wrapped zip" else ""
        return written_zip(
            tmp_path / "images.zip", {prefix + name: content for name, content in files.items()}
        )

    return pack


def manifest(rows, header="file,label", encoding="utf-8"):
    return "\r\n".join([header, *rows]).encode(encoding)


def flat_files(count=40):
    return {f"{number:03}.png": plain((number, 0, 0)) for number in range(count)}


def flat_rows(count=40, delimiter=",", label=("cat", "dog")):
    return [f"{number:03}.png{delimiter}{label[number % 2]}" for number in range(count)]


def counts(source):
    return Counter(image.label for image in source.images)


def refusal(path, workdir, problem):
    with pytest.raises(problem) as caught:
        open_source(path, workdir)
    assert type(caught.value) is problem
    assert caught.value.remedy.endswith(".")
    return str(caught.value)


# Folders for classes


def test_a_folder_for_each_class_is_a_data_set(packed, workdir):
    files = class_files(20)
    source = open_source(packed(files), workdir)
    assert source.classes == ("cat", "dog")
    assert counts(source) == {"cat": 20, "dog": 20}
    assert {image.name: image.read() for image in source.images} == files
    assert all(image.name.startswith(image.label) for image in source.images)
    assert not source.has_split
    assert source.features is None
    assert source.notes == ()
    assert not list(workdir.iterdir())


def test_what_systems_leave_behind_is_ignored(packed, workdir):
    clutter = ["cat/.DS_Store", "__MACOSX/cat/._000.png", "dog/Thumbs.db", ".git/config"]
    source = open_source(packed(class_files() | dict.fromkeys(clutter, b"x")), workdir)
    assert len(source.images) == 40


def test_documents_and_strays_are_ignored_and_mentioned(packed, workdir):
    more = {"README.md": b"x", "cat/notes.txt": b"x", "stray.png": plain()}
    source = open_source(packed(class_files() | more), workdir)
    assert len(source.images) == 40
    assert "Documents that were ignored: 2, such as README.md." in source.notes
    assert any("no features: 1, such as stray.png" in note for note in source.notes)


def test_folders_inside_a_class_belong_to_it(packed, workdir):
    files = {name.replace("cat/", "cat/tabby/"): data for name, data in class_files().items()}
    assert counts(open_source(packed(files), workdir)) == {"cat": 20, "dog": 20}


def test_folders_for_training_and_test_are_sides_and_not_classes(packed, workdir):
    files = {f"train/{name}": data for name, data in class_files(15).items()}
    files |= {f"Test/{name}": data for name, data in class_files(5).items()}
    source = open_source(packed(files), workdir)
    assert counts(source) == {"cat": 20, "dog": 20}
    assert source.has_split
    assert sum(image.side == "evaluation" for image in source.images) == 10


@pytest.mark.parametrize(
    ("classes", "found"),
    [
        (("cat",), "2 to 20 classes; found 1: “cat” (20)"),
        ([f"{number:02}" for number in range(21)], "found 21: “00” (20); “01” (20)"),
    ],
)
def test_too_few_and_too_many_classes_are_refused_by_name(packed, workdir, classes, found):
    assert found in refusal(packed(class_files(20, classes)), workdir, WrongClasses)


def test_as_many_as_twenty_classes_are_taken_in_the_order_of_their_names(packed, workdir):
    names = [f"{number:02}" for number in range(20)]
    source = open_source(packed(class_files(20, names[::-1])), workdir)
    assert source.classes == tuple(names)
    assert counts(source) == dict.fromkeys(names, 20)


def test_some_of_the_classes_can_be_taught(packed, workdir):
    path = packed(class_files(20, ("bee", "cat", "dog", "emu")) | {"fox/1.png": plain()})
    source = open_source(path, workdir, ["dog", "bee"])
    assert source.classes == ("bee", "dog")
    assert counts(source) == {"bee": 20, "dog": 20}
    assert source.class_counts == {"bee": 20, "cat": 20, "dog": 20, "emu": 20, "fox": 1}
    assert source.notes == ()


def test_a_problem_with_the_classes_says_which_there_are(packed, workdir):
    path = packed(class_files(20) | {"fox/1.png": plain()})
    for only, reason in ((["cat", "owl"], "no class called “owl”"), ([], "“fox” has 1")):
        with pytest.raises(BadSource, match=reason) as refused:
            open_source(path, workdir, only)
        assert refused.value.classes == {"cat": 20, "dog": 20, "fox": 1}


def test_images_without_any_class_are_refused(packed, workdir):
    assert "one folder for each class" in refusal(packed(flat_files()), workdir, WrongClasses)


def test_a_class_with_too_few_images_is_refused_with_numbers(packed, workdir):
    files = class_files(20)
    files.pop("dog/000.png")
    assert "needs at least 20 images; “dog” has 19" in refusal(packed(files), workdir, TooFewImages)


def test_counts_can_be_checked_again_after_skipping():
    check_classes({"cat": 20, "dog": 20}, "mine.zip")
    with pytest.raises(TooFewImages, match=r"^mine.zip: "):
        check_classes({"cat": 20, "dog": 19}, "mine.zip")


@pytest.mark.parametrize(
    ("name", "reason"), [("a" * 61, "61 characters"), ("a\u202eb", "invisible")]
)
def test_a_class_name_that_people_cannot_read_is_refused(packed, workdir, name, reason):
    assert reason in refusal(packed(class_files(20, (name, "b"))), workdir, BadName)


def test_names_in_any_script_are_classes(packed, workdir):
    assert open_source(packed(class_files(20, ("Kätzchen", "犬"))), workdir).classes == (
        "Kätzchen",
        "犬",
    )


def test_one_bad_image_does_not_stop_the_listing(packed, workdir):
    source = open_source(packed(class_files() | {"cat/000.png": b"", "cat/x.exe": b"MZ"}), workdir)
    bad = []
    for image in source.images:
        try:
            prepare(image.read(), image.name)
        except BadImage as problem:
            bad.append(problem.file)
    assert bad == ["cat/000.png", "cat/x.exe"]


def test_images_can_be_read_in_another_process(packed, workdir):
    image = open_source(packed(class_files()), workdir).images[0]
    assert pickle.loads(pickle.dumps(image)).read() == image.read()


def test_listing_and_reading_holds_one_image_at_a_time(packed, workdir):
    path = packed(dict.fromkeys(class_files(30), NOISE[:500_000]))
    tracemalloc.start()
    try:
        source = open_source(path, workdir)
        assert sum(len(image.read()) for image in source.images) == 60 * 500_000
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


# Folders on disk


def test_links_in_a_folder_are_refused(tmp_path, workdir):
    folder = written_folder(tmp_path / "images", class_files())
    (folder / "cat" / "link.png").symlink_to("/etc/passwd")
    assert "cat/link.png: It is a link" in refusal(folder, workdir, BadSource)
    (folder / "cat" / "link.png").unlink()
    (folder / "emu").symlink_to("/etc")
    assert "emu: It is a link" in refusal(folder, workdir, BadSource)


def test_a_file_that_becomes_a_link_is_not_followed(tmp_path, workdir):
    folder = written_folder(tmp_path / "images", class_files())
    image = open_source(folder, workdir).images[0]
    (folder / image.name).unlink()
    (folder / image.name).symlink_to("/etc/passwd")
    with pytest.raises(BadImage, match="cannot be read"):
        image.read()


def test_a_device_in_a_folder_is_refused_and_not_opened(tmp_path, workdir):
    folder = written_folder(tmp_path / "images", class_files())
    os.mkfifo(folder / "cat" / "pipe.png")
    assert "link or a device" in refusal(folder, workdir, BadSource)


def test_a_file_name_that_is_not_utf8_is_shown_and_read(tmp_path, workdir):
    folder = written_folder(tmp_path / "images", class_files())
    (folder / "cat" / os.fsdecode(b"\x82t\x82.png")).write_bytes(b"x")
    images = {image.name: image for image in open_source(folder, workdir).images}
    assert images["cat/été.png"].read() == b"x"


def test_names_that_are_equal_on_other_computers_are_refused(tmp_path, workdir):
    folder = written_folder(tmp_path / "images", class_files() | {"cat/A": b"", "cat/a": b""})
    assert "Rename one" in refusal(folder, workdir, DuplicateName)


def test_too_many_files_are_refused(tmp_path, workdir, monkeypatch):
    monkeypatch.setattr("image_datasets.sources.files.UPLOAD_LIMITS", ArchiveLimits(entries=39))
    folder = written_folder(tmp_path / "images", class_files())
    with pytest.raises(BadSource, match="more than 39 files"):
        open_source(folder, workdir)


def test_folders_nested_without_end_are_refused(tmp_path, workdir):
    folder = written_folder(tmp_path / "images", {"a/" * 25 + "x.png": b""})
    assert "nested more than 20 levels deep" in refusal(folder, workdir, BadSource)


@pytest.mark.parametrize("name", ["missing", "missing.zip"])
def test_a_source_that_is_not_there_is_named(tmp_path, workdir, name):
    assert f"{name}: There is no such" in refusal(tmp_path / name, workdir, BadSource)


def test_a_single_table_or_image_is_no_source(tmp_path, workdir):
    path = tmp_path / "manifest.csv"
    path.write_bytes(manifest(flat_rows()))
    assert "Give the folder" in refusal(path, workdir, BadSource)


# Zips


def test_a_hostile_zip_touches_nothing(tmp_path, workdir):
    link = zipfile.ZipInfo("cat/link.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    before = sorted(tmp_path.rglob("*"))
    hostile = {
        BadName: {"../../evil.png": b"x"},
        BadArchive: {link: b"/etc/passwd"},
        DuplicateName: {"cat/A.png": b"x", "cat/a.png": b"x"},
    }
    for problem, files in hostile.items():
        path = written_zip(tmp_path / "evil.zip", class_files() | files)
        refusal(path, workdir, problem)
        path.unlink()
        assert sorted(tmp_path.rglob("*")) == before


def test_a_picture_with_a_zip_behind_it_is_no_source(tmp_path, workdir):
    path = written_zip(tmp_path / "a.zip", class_files())
    path.write_bytes(plain() + path.read_bytes())
    assert "with a zip inside" in refusal(path, workdir, BadArchive)


def test_a_message_names_the_file_as_the_researcher_knows_it(packed, workdir):
    path = packed(class_files() | {"cat/big.png": b"x"})
    image = next(i for i in open_source(path, workdir).images if i.name == "cat/big.png")
    with pytest.raises(BadImage, match=r"^cat/big.png: "):
        image.file.read(0)


# Manifests


@pytest.mark.parametrize("delimiter", [",", ";"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_manifest_labels_images_in_one_folder(packed, workdir, delimiter, encoding):
    table = manifest(flat_rows(delimiter=delimiter), f"File{delimiter} Label", encoding)
    source = open_source(packed(flat_files() | {"manifest.csv": table}), workdir)
    assert counts(source) == {"cat": 20, "dog": 20}
    assert source.images[0].label == "cat"
    assert not source.has_split


def test_a_manifest_wins_over_folders(packed, workdir):
    rows = [f"{name},{'tame' if name < 'dog' else 'wild'}" for name in class_files()]
    source = open_source(packed(class_files() | {"labels.csv": manifest(rows)}), workdir)
    assert source.classes == ("tame", "wild")


def test_a_manifest_brings_its_own_split(packed, workdir):
    words = ["teaching", "Train", "evaluation", "TEST", "val"]
    rows = [f"{row},{words[place % 5]}" for place, row in enumerate(flat_rows())]
    table = manifest(rows, "file,label,split")
    source = open_source(packed(flat_files() | {"m.csv": table}), workdir)
    assert source.has_split
    assert [image.side for image in source.images[:3]] == ["teaching", "teaching", "evaluation"]


def test_names_in_a_manifest_may_be_written_on_windows_or_without_ending(packed, workdir):
    rows = [f".\\{name.replace('/', chr(92))[:-4]},{name[:3]}" for name in class_files()]
    source = open_source(packed(class_files() | {"m.csv": manifest(rows)}), workdir)
    assert len(source.images) == 40


def test_a_name_with_a_comma_is_quoted(packed, workdir):
    table = manifest([*flat_rows(), '"a, b.png",cat', ""])
    source = open_source(packed(flat_files() | {"a, b.png": plain(), "m.csv": table}), workdir)
    assert counts(source)["cat"] == 21


def test_images_that_the_manifest_leaves_out_are_left_out_and_mentioned(packed, workdir):
    files = flat_files(43) | {"m.csv": manifest(flat_rows(40))}
    source = open_source(packed(files), workdir)
    assert len(source.images) == 40
    assert any("no features: 3, such as 040.png" in note for note in source.notes)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (manifest([*flat_rows(), "missing.png,cat"]), "Line 42 names missing.png"),
        (manifest([*flat_rows(), "../../etc/passwd,cat"]), "Line 42 names ../../etc/passwd"),
        (manifest([*flat_rows(), "000.png,dog"]), "Line 42 names 000.png for a second time"),
        (manifest([*flat_rows(39), "039.png,"]), "Line 41 has no label"),
        (manifest([*flat_rows(), "x.png,cat,7"]), "Line 42 has 3 cells"),
        (manifest([f"{row},soon" for row in flat_rows()], "file,label,split"), "split “soon”"),
        (manifest([f"{row}," for row in flat_rows(39)] + ["039.png,dog,test"], "file,label,split"),
         "39 of 40 lines have no split"),
        (manifest(flat_rows(), "file,label,label"), "the same name"),
        (manifest(["é.png,cat"], encoding="latin-1"), "Line 2 is not UTF-8"),
        (manifest(flat_rows(), "name,class"), "Its columns are “name”, “class”"),
        (manifest(flat_rows())[len("file,label\r\n"):], "Its columns are “000.png”, “cat”"),
        (b"", "Its columns are nothing"),
        (manifest(['"' + "x" * 200_000 + '",cat']), "cannot be read as CSV"),
        (b"file,label\n" + NOISE.hex().encode(), "A line has more than"),
    ],
    ids=range(14),
)  # fmt: skip
def test_a_manifest_that_does_not_fit_is_refused_with_its_line(packed, workdir, table, reason):
    message = refusal(packed(flat_files() | {"m.csv": table}), workdir, BadManifest)
    assert "m.csv: " in message
    assert reason in message


def test_a_table_of_another_form_beside_folders_is_mentioned(packed, workdir):
    table = manifest(["cat/000.png,cat,tabby"], "file,class,subclass")
    source = open_source(packed(class_files() | {"list.csv": table}), workdir)
    assert len(source.images) == 40
    assert "list.csv was ignored: its columns are “file”, “class”" in source.notes[0]


def test_two_manifests_are_refused(packed, workdir):
    table = manifest(flat_rows())
    files = flat_files() | {"a.csv": table, "b.csv": table}
    assert "b.csv: There is already a table of this kind: a.csv" in refusal(
        packed(files), workdir, BadManifest
    )


# Features


def npz(path, compressed=False, **arrays):
    (np.savez_compressed if compressed else np.savez)(path, **arrays)
    content = path.read_bytes()
    path.unlink()
    return content


def features_of(files, dimensions=5, seed=1):
    names = sorted(files)
    X = np.random.default_rng(seed).standard_normal((len(names), dimensions))
    y = np.array([name[:3] for name in names])
    return X, y, np.array(names)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("ending", ["kept", "dropped"])
def test_features_in_an_npz_find_their_images(packed, workdir, tmp_path, compressed, ending):
    X, y, ids = features_of(class_files())
    ids = np.array([name[:-4] for name in ids]) if ending == "dropped" else ids
    order = np.random.default_rng(2).permutation(40)
    table = npz(tmp_path / "f.npz", compressed, X=X[order], y=y[order], ids=ids[order])
    source = open_source(packed(class_files() | {"features.npz": table}), workdir)
    assert np.array_equal(source.features, X)
    assert source.classes == ("cat", "dog")


def test_features_in_a_csv_find_their_images(packed, workdir):
    X, y, ids = features_of(class_files())
    rows = [",".join([i, c, *map(repr, x.tolist())]) for i, c, x in zip(ids, y, X, strict=True)]
    table = manifest(rows, "id,label,f1,f2,f3,f4,f5")
    source = open_source(packed(class_files() | {"features.csv": table}), workdir)
    assert np.array_equal(source.features, X)


def test_features_alone_label_images_in_one_folder(packed, workdir, tmp_path):
    files = {f"images/{name}": data for name, data in flat_files().items()}
    y = np.where(np.arange(40) % 2, 1, -1)
    table = npz(tmp_path / "f.npz", X=np.eye(40), y=y, ids=np.array(sorted(files)))
    source = open_source(packed(files | {"f.npz": table}), workdir)
    assert source.classes == ("-1", "1")
    assert source.features.shape == (40, 40)


def test_numbers_for_classes_say_which_is_positive(packed, workdir, tmp_path):
    X, y, ids = features_of(class_files())
    table = npz(tmp_path / "f.npz", X=X, y=np.where(y == "cat", 1.0, 0.0), ids=ids)
    source = open_source(packed(class_files() | {"f.npz": table}), workdir)
    assert source.classes == ("dog", "cat")


def test_features_and_a_manifest_with_a_split_go_together(packed, workdir, tmp_path):
    X, y, ids = features_of(class_files())
    rows = [
        f"{i},{c},{'test' if n % 2 else 'train'}"
        for n, (i, c) in enumerate(zip(ids, y, strict=True))
    ]
    tables = {
        "f.npz": npz(tmp_path / "f.npz", X=X, y=y, ids=ids),
        "m.csv": manifest(rows, "file,label,split"),
    }
    source = open_source(packed(class_files() | tables), workdir)
    assert source.has_split
    assert source.features.shape == (40, 5)


def test_images_without_features_are_left_out_and_mentioned(packed, workdir, tmp_path):
    X, y, ids = features_of(class_files(20))
    files = class_files(21) | {"f.npz": npz(tmp_path / "f.npz", X=X, y=y, ids=ids)}
    source = open_source(packed(files), workdir)
    assert len(source.images) == len(source.features) == 40
    assert any("no features: 2, such as cat/020.png" in note for note in source.notes)


def broken_features(change):
    X, y, ids = features_of(class_files())
    arrays = {"X": X, "y": y, "ids": ids}
    change(arrays)
    return arrays


def put(name, place, value):
    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def become(name, value):
    return lambda arrays: arrays.update({name: value})


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("X", (3, 2), np.nan), "not finite in 1 row, such as that of cat/003"),
        (put("X", (3, 2), np.inf), "not finite"),
        (become("X", np.zeros((39, 5))), "X has 39 rows, y 40 and ids 40"),
        (become("X", np.zeros(40)), "X has shape (40,)"),
        (become("X", np.zeros((40, 0))), "X has shape (40, 0)"),
        (become("X", np.full((40, 2), "a")), "type <U1"),
        (become("X", np.zeros((40, 2), dtype=complex)), "complex"),
        (become("y", np.zeros((40, 1))), "y has shape (40, 1)"),
        (become("ids", np.array([b"\xff"] * 40)), "not UTF-8"),
        (become("y", np.array(["cat"] * 40, dtype=object)), "Python objects"),
        (put("ids", 0, "cat/no1.png"), "1 id cannot be matched to exactly one image: cat/no1.png"),
        (put("ids", 0, "cat/001.png"), "cat/001.png has more than one row"),
        (put("y", 0, "dog"), "The features say “dog”, the folder or manifest “cat”"),
        (become("y", np.array(["a"] * 20 + ["b"] * 20)), "The features say “a”"),
        (become("y", np.arange(40) % 2), "dog/000.png: The features say “0”"),
        (become("y", np.arange(40)), "Several numbers stand for one class"),
        (lambda arrays: arrays.pop("ids"), "The array ids is missing"),
    ],
    ids=range(17),
)  # fmt: skip
def test_features_that_do_not_fit_are_refused(packed, workdir, tmp_path, change, reason):
    table = npz(tmp_path / "f.npz", **broken_features(change))
    path = packed(class_files() | {"f.npz": table})
    assert reason in refusal(path, workdir, BadFeatures)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [("1.5;zero", "Line 2 has a cell"), ("1,5;2", "Line 2 has a cell"), ("1;nan", "not finite")],
)
def test_a_table_of_features_needs_numbers(packed, workdir, cells, reason):
    table = manifest([f"cat/000;cat;{cells}"], "id;label;f1;f2")
    assert reason in refusal(packed(class_files() | {"f.csv": table}), workdir, BadFeatures)


def test_an_array_that_claims_to_be_huge_is_refused_before_memory_is_taken(tmp_path, workdir):
    X, y, ids = features_of(class_files())
    content = npz(tmp_path / "f.npz", X=X, y=y, ids=ids)
    with zipfile.ZipFile(written_bytes(tmp_path / "f.npz", content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    honest, claim = b"(40, 5), }      ", b"(9999999999,), }"
    assert honest in members["X.npy"]
    members["X.npy"] = members["X.npy"].replace(honest, claim)
    claims = written_zip(tmp_path / "f.npz", members).read_bytes()
    folder = written_folder(tmp_path / "images", class_files() | {"f.npz": claims})
    tracemalloc.start()
    try:
        assert "not as long as its header says" in refusal(folder, workdir, BadFeatures)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def written_bytes(path, content):
    path.write_bytes(content)
    return path


def test_an_npz_that_blows_up_is_refused(tmp_path, workdir, monkeypatch):
    monkeypatch.setattr("image_datasets.sources.features.MAX_BYTES", 100_000)
    _, y, ids = features_of(class_files())
    table = npz(tmp_path / "f.npz", True, X=np.zeros((40, 1000)), y=y, ids=ids)
    assert len(table) < 5_000
    folder = written_folder(tmp_path / "images", class_files() | {"f.npz": table})
    assert "at most 100,000 are read" in refusal(folder, workdir, BadFeatures)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("features.csv", "file,label,f1,f2"),
        ("features.csv", "name,class,f1,f2"),
        ("Image_Embeddings.csv", "cat/001.png,cat,0.5,0.25"),
    ],
)
def test_a_table_of_features_with_a_wrong_header_is_refused(tmp_path, workdir, name, header):
    table = "\n".join([header, "cat/001.png,cat,0.5,0.25"]).encode()
    folder = written_folder(tmp_path / "images", class_files() | {name: table})
    with pytest.raises(BadFeatures, match=r"Its columns are .* id,label,f1,f2,f3"):
        open_source(folder, workdir)


def test_columns_of_a_manifest_that_nobody_reads_are_mentioned(tmp_path, workdir):
    files = class_files()
    rows = [f"{name},{name.split('/')[0]},Paris" for name in files]
    folder = written_folder(
        tmp_path / "images", files | {"list.csv": manifest(rows, "file,label,place")}
    )
    notes = open_source(folder, workdir).notes
    assert notes == ("Columns of list.csv that were not used: “place”.",)


def test_an_npz_that_is_no_zip_or_not_features_is_refused(packed, workdir):
    assert "read as .npz" in refusal(packed(class_files() | {"f.npz": b"x"}), workdir, BadFeatures)


def test_features_in_a_zip_are_unpacked_under_a_name_of_ours(tmp_path, workdir):
    X, y, ids = features_of(class_files())
    files = class_files() | {"my features.npz": npz(tmp_path / "f.npz", X=X, y=y, ids=ids)}
    open_source(written_zip(tmp_path / "images.zip", files), workdir)
    assert [path.name for path in workdir.iterdir()] == ["features.npz"]


def test_every_refusal_is_an_import_problem_with_a_readable_message(packed, workdir):
    message = refusal(packed(class_files(5)), workdir, TooFewImages)
    assert issubclass(TooFewImages, ImportProblem)
    assert message.startswith("images")
    assert message.endswith(
        "Each class needs at least 20 images; “cat” has 5 and “dog” has 5. "
        "Add images, or teach the other classes only; 100 of each are enough for a typical study."
    )
