// Threads that take no signals.
//
// Comes in: nothing. Goes out: a thread that is started meanwhile leaves signals to those of the
// process whose they are, as Python's; what a thread does wrong itself is still told to it.
// Never: another mask than before, once it is over.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace brimstone {

class Quiet {
  public:
    Quiet() noexcept {
        sigset_t others;
        sigfillset(&others);
        for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
            sigdelset(&others, own);
        pthread_sigmask(SIG_BLOCK, &others, &before_);
    }
    ~Quiet() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    Quiet(const Quiet &) = delete;
    Quiet &operator=(const Quiet &) = delete;

  private:
    sigset_t before_;
};

}  // namespace brimstone
