// What a subcommand of `joule` is, and what all of them share.
#pragma once

#include "joule/Error.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace joule::cli {

/// What the program returns to the shell.
enum ExitCode { Succeeded = 0, Failed = 1, WrongUsage = 2 };

/// A subcommand: its part of the command line, and what it does once that is parsed. What is wrong with the
/// command line itself is thrown as a CLI::Error.
struct Command {
  CLI::App *app;
  std::function<ExitCode()> run;
};

Command addBench(CLI::App &parent);
Command addCheck(CLI::App &parent);
Command addCompile(CLI::App &parent);
Command addDoctor(CLI::App &parent);
Command addEnergy(CLI::App &parent);
Command addExplain(CLI::App &parent);
Command addReport(CLI::App &parent);
Command addRun(CLI::App &parent);
Command addVerify(CLI::App &parent);

/// A subcommand whose help ends with an example.
CLI::App *addSubcommand(CLI::App &parent, const std::string &name, const std::string &does,
                        const std::string &example);

/// The option --json.
void addJson(CLI::App &app, bool &json);

/// Prints `error` for the reader, on stderr, and for machines too where `json`.
ExitCode fail(const Error &error, bool json);

/// Prints one JSON value on stdout.
void print(const nlohmann::ordered_json &value);

} // namespace joule::cli
