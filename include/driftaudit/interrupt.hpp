#pragma once

namespace drift {

/// From now on SIGINT and SIGTERM only leave a mark, which throw_if_interrupted() turns into an
/// Error with the signal's exit status; SIGPIPE is ignored. Call once, from main.
void install_interrupt_handlers();

/// Throws when a signal has come. Call it in every loop that may run for long.
void throw_if_interrupted();

/// A descriptor that becomes readable when a signal comes, to be polled beside others; -1 before
/// install_interrupt_handlers().
int interrupt_fd();

}  // namespace drift
