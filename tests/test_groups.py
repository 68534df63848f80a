"""How the tests are shared between processes (tests/conftest.py)."""


def test_the_tests_of_a_file_stay_in_one_process(request):
    """xdist adds the group to the name; without the name, every test is a group of its own."""
    is_shared_by_group = request.config.getoption("loadgroup", False)
    assert ("@tests/test_groups.py" in request.node.nodeid) == is_shared_by_group
