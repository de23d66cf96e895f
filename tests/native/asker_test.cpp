// Who asks for something, and how soon he wants it: by times that he is told.
#include <memory>
#include <thread>
#include <utility>

#include "asker.hpp"
#include "check.hpp"

namespace brimstone {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Somebody who asks for results of one program again and again, on a clock of his own.
class Asking {
  public:
    explicit Asking(Time begin) : now_(begin) {}

    // He is sure to want them, as he has waited for some several times in turn.
    void be_sure() {
        while (!haste->surely_awaits()) {
            asker.asks(now_);
            asker.waits(*haste, now_);
        }
    }
    // He asks, gets what he asked for before he goes on, and reads it so much later.
    uint32_t get(microseconds later) {
        const uint32_t number = asker.asks(now_);
        check(asker.surely_awaits(haste) && asker.has_answer());
        asker.goes_on_at(now_);
        now_ += later;
        check(asker.is_watched(number));
        asker.reads(now_);
        check(!asker.is_watched(number));
        return number;
    }
    // He asks once more, by which it is known whether he read what he got: is he still sure?
    bool is_still_sure() {
        asker.asks(now_);
        return haste->surely_awaits();
    }
    // Another thread asks for something.
    void have_company() {
        std::thread([this] { Asker().asks(now_); }).join();
    }
    void pause(milliseconds time) { now_ += time; }

    const std::shared_ptr<Haste> haste = std::make_shared<Haste>();
    Asker asker;

  private:
    Time now_;
};

Time some_time() {
    static Time last = Clock::now();
    return last += std::chrono::hours(1);  // nobody else has asked of late
}

void test_who_waits_soon_wants_it_at_once() {
    using Case = std::pair<microseconds, bool>;
    for (const auto &[later, at_once] : {Case(99, true), Case(101, false)}) {
        Asker asker;
        Haste haste;
        const Time now = some_time();
        asker.asks(now);
        asker.waits(haste, now + later);
        check(haste.awaits() == at_once && asker.awaits(Haste()) == at_once);
        asker.waits(haste, now + milliseconds(20));  // the same wait, which goes on
        check(haste.awaits() == at_once);
    }
}

void test_who_asks_for_more_has_not_wanted_it() {
    Asking asking(some_time());
    asking.be_sure();
    asking.asker.went_on(*asking.haste);
    check(!asking.haste->awaits() && !asking.asker.awaits(Haste()));
}

void test_who_gets_it_at_once_is_judged_by_when_he_reads_it() {
    using Case = std::pair<microseconds, bool>;
    for (const auto &[later, sure] : {Case(199, true), Case(201, false)}) {
        Asking asking(some_time());
        asking.be_sure();
        asking.get(later);
        check(asking.is_still_sure() == sure);
        check(asking.haste->awaits());  // late once
    }
}

void test_who_does_not_read_it_did_not_want_it() {
    Asking asking(some_time());
    asking.be_sure();
    const Time now = some_time();
    const uint32_t older = asking.asker.asks(now);
    check(asking.asker.surely_awaits(asking.haste));
    asking.asker.goes_on_at(now);
    const uint32_t newer = asking.asker.asks(now);
    check(!asking.asker.is_watched(older) && asking.asker.is_watched(newer));
    check(!asking.haste->awaits());
}

void test_what_is_no_answer_is_not_judged() {
    Asking asking(some_time());
    asking.be_sure();
    const Time now = some_time();
    const uint32_t number = asking.asker.asks(now);
    check(!asking.asker.has_answer());
    asking.asker.reads(now + milliseconds(1));
    check(asking.asker.asks(now + milliseconds(2)) == number + 1);
    check(asking.haste->surely_awaits());
}

// Who reads late where other threads ask for something, too, may have had to wait for them.
void test_in_company_nobody_is_soon_late() {
    using Case = std::pair<milliseconds, bool>;
    for (const auto &[later, sure] : {Case(4, true), Case(6, false)}) {
        Asking asking(some_time());
        asking.be_sure();
        asking.have_company();
        asking.get(later);
        check(asking.is_still_sure() == sure);
    }
}

void test_company_that_is_gone_is_none() {
    Asking asking(some_time());
    asking.be_sure();
    asking.have_company();
    asking.pause(milliseconds(101));
    asking.get(milliseconds(4));
    check(!asking.is_still_sure());
}

}  // namespace
}  // namespace brimstone

int main() {
    using namespace brimstone;
    test_who_waits_soon_wants_it_at_once();
    test_who_asks_for_more_has_not_wanted_it();
    test_who_gets_it_at_once_is_judged_by_when_he_reads_it();
    test_who_does_not_read_it_did_not_want_it();
    test_what_is_no_answer_is_not_judged();
    test_in_company_nobody_is_soon_late();
    test_company_that_is_gone_is_none();
    return exit_status();
}
