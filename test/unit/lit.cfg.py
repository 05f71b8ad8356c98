# The GoogleTest programs of the build folder, counted case by case.
import lit.formats

config.name = "unit"
config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
config.environment["TSAN_OPTIONS"] = f"suppressions='{config.joule_source}/test/unit/tsan.supp'"
config.test_format = lit.formats.GoogleTest(".", "Test")
config.test_source_root = config.test_exec_root = config.joule_build + "/test/unit"
