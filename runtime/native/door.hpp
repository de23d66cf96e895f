// The way back to Python, whose lock one thread has at a time.
//
// Comes in: threads of Python that ask the core for something. Goes out: the same, one after the
// other, while each stays in Python for a moment only.
// Never: a promise; who comes through may find Python's lock taken all the same. Nor a long wait
// for one who stays for longer than he did of late.
//
// Who finds Python's lock taken sleeps, and to be woken takes longer than most have the lock
// between two calls of the core. So who comes back from the core while another one who came back is
// in Python waits here, awake, until that one asks the core for the next thing that may take long.
// If he stays for longer than he did of late, he may have no core: who waits offers his own then.
#pragma once

namespace brimstone {

// A thread of Python is in the core for as long as there is one of these; each has one at most, and
// none that only puts down what it asks for.
class Visit {
  public:
    Visit() noexcept;
    ~Visit();
    Visit(const Visit &) = delete;
    Visit &operator=(const Visit &) = delete;
};

}  // namespace brimstone
