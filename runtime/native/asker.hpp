// Who asks a stream for something, and how soon he wants it.
//
// Comes in: when he asks, and when he waits for it or reads it. Goes out: whether he is likely to
// want the next thing at once, as programs remember it, too (`haste.hpp`).
// Never: one who is called late as he has to wait for other threads before he can read; nor a look
// at a clock.
//
// If he is sure to want what he asks for at once, it is done as he asks. Whether he was right is
// told by when he reads it then.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "clock.hpp"
#include "haste.hpp"

namespace brimstone {

class Asker {
  public:
    // He asks for something; the number of that.
    uint32_t asks(Time now) noexcept;
    // He has asked for something of a program before that, and not waited for it.
    void went_on(Haste &without) noexcept;
    // He waits for results of a program, of which he asked for something last.
    void waits(Haste &haste, Time now) noexcept;
    // Whether he is likely to want a program's next results at once, and whether he is sure to; if
    // he is, he gets them before he goes on.
    bool awaits(const Haste &haste) const noexcept;
    bool surely_awaits(const std::shared_ptr<Haste> &haste) noexcept;
    // Whether others ask for something, too, as far as was known when he last asked.
    bool has_company(Time now) const noexcept { return now < company_until_; }
    // Somebody else asks from now on.
    void goes() noexcept { company_until_ = {}; }
    // Whether he has got them so, and then that he goes on.
    bool has_answer() const noexcept { return has_answer_; }
    void goes_on_at(Time now) noexcept { answer_ = now; }

    // He, or anybody else, reads what he asked for under this number, without a lock: whether it is
    // of interest when that is, and when it was.
    bool is_watched(uint32_t number) const noexcept;
    void reads(Time now) noexcept;

  private:
    void note_company(Time now) noexcept;
    void learn() noexcept;
    bool is_at_once(Time::duration passed, Time::duration alone) const noexcept;

    Time asked_;                           // when he last did, unless he has waited since then
    bool awaits_ = false;                  // results of the last program he waited for, at once
    std::shared_ptr<Haste> answered_;      // the program's whose results he was last sure to want
    bool has_answer_ = false;              // and has got, without having asked for more
    Time answer_;                          // when he got it
    Time company_until_;                   // others are likely to ask for something, too
    bool has_company_ = false;             // when he last asked
    std::atomic<uint32_t> asked_for_ = 0;  // how often he has
    std::atomic<Time::rep> reading_ = 0;   // when somebody read the last thing; 0 if nobody has
};

}  // namespace brimstone
