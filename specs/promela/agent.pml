/*
 * The lifecycle of one agent: the calls that reach it from outside, and the driver that runs its
 * turns. Written from the numbered clauses alone (A agent, B windows, C inbox) by someone who had not
 * seen the declaration; the ids stand beside the step that keeps them.
 *
 * A window is a place where control has left the driver, so that a call can land. One step of the
 * driver is the uninterrupted stretch from one window to the next; one call is one step as well. What
 * a listener, an interceptor, a model or an abort callback calls is a call in the present window.
 * turn/start, step/start, step/end and turn/end are in the log when their window is entered (B-130),
 * or the window finds out that they could not be appended (B-193, B-195).
 *
 * Modelled: status, window, both FIFOs as "empty or not", the marker, the ending, an unreported
 * failure, the wish for a further step, the number of steps and of unanswered calls (both bounded by
 * two), one when_idle waiter, and one message that is followed from its acceptance to its fate.
 *
 * Left out: the contents of the log beyond the fate of the followed message, announcements as such
 * and their order, clocks and graces (a body that overstays is a visit that came out as cut), refusals
 * of malformed calls (A-08, A-59 to A-63, A-81), the flush and the records of an idle injection, the
 * teardown after the driver's exit, a foreign cancel of the driver's task (B-95), the death of the
 * driver by a bug (B-131) or of the process (B-167).
 *
 * s_ (safety) and l_ (liveness) must hold under weak fairness, x_ must fail. Without fairness these must
 * fail: l_exits l_closes l_unwinds l_fate l_steering l_recorded; every other one comes out the same.
 * With -DSTEP_COST=0, no limit of steps, these must fail: l_fate l_recorded l_rests l_waiters.
 *
 *   spin -a agent.pml; cc -O0 -w -DNOREDUCE -DNFAIR=3 -o pan pan.c; ./pan -w20 -a -f -N name
 *   the same with cc -DNOREDUCE -DNOCLAIM -DSAFETY, ./pan -w18: the assertions, what is never reached
 *   spin -DEDGES -a agent.pml: one process, no formulas; ./pan -E prints every step as a line
 */
#define IDLE 0
#define RUNNING 1
#define CANCELLED 2
#define DISPOSED 3

#define PARKED 0            /* no task; waits for a queued message                     (A-77, C-03) */
#define WOKEN 1             /* a message came, the driver has not resumed                    (B-02) */
#define ANNOUNCE_RUNNING 2  /* the notification of running, before turn/start          (A-51, B-192) */
#define TURN_START 3        /* turn/start is announced, the batch is drained          (B-99, B-193) */
#define PROMPTS 4           /* the submission interceptors, the prompts               (B-87, B-194) */
#define ASSEMBLY 5          /* steering is recorded, sections are assembled                  (B-56) */
#define PRE_STEP 6          /* the interceptor before the step                               (B-57) */
#define STEP_START 7        /* step/start is announced                                       (B-15) */
#define REQUEST 8           /* the request is derived                                        (B-16) */
#define STREAM 9            /* the model answers                                             (B-17) */
#define RESULT 10           /* the result interceptors                                 (B-22, B-62) */
#define CHECKPOINT 11       /* the flush before the first body of a step                    (B-138) */
#define TOOL_CALL 12        /* tool/call is announced, the call is judged                    (B-24) */
#define TOOL_BODY 13        /* the tool runs                                                 (B-25) */
#define STEP_END 14         /* step/end is announced                                         (B-26) */
#define CONTINUATION 15     /* the continuation interceptors                                 (B-27) */
#define CLOSING 16          /* agent/error is announced, the turn is still open (B-75, B-98, B-191) */
#define TURN_END 17         /* turn/end is announced                                         (B-29) */
#define FLUSH 18            /* the flush of the turn                                         (B-30) */
#define ANNOUNCE_IDLE 19    /* the notification of idle                                (B-33, B-34) */
#define EXITED 20           /* the driver is gone                                            (A-32) */

#define ABSENT 0
#define ARMED 1

mtype = { COMPLETED, MAX_TOKENS, MAX_STEPS, ABORTED, REJECTED, DISPOSED_END, ERROR };      /* B-96 */
mtype = { SEND, STEER, INJECT, CANCEL, DISPOSE, DRIVER, NOBODY };             /* who did a step */
mtype = { NOWHERE, IN_QUEUE, IN_STEERING, IN_BATCH, RECORDED, DISCARDED };    /* the followed message */

#define LIMIT 2             /* steps that a turn may have */
#ifndef STEP_COST
#define STEP_COST 1         /* 0: no limit */
#endif

byte status = IDLE, window = PARKED, marker = ABSENT;
bool queued, steering;                    /* non-empty; each becomes empty only as a whole (C-02) */
mtype ending = COMPLETED;                 /* of the turn, as far as decided */
bool failed;                              /* a step failed and that was not reported yet */
bool wants_step;                          /* the step had calls or drained steering (B-68) */
bool truncated;                           /* the reply of this step was cut at its limit (B-73) */
byte steps, calls;                        /* begun in this turn; unanswered in this step */
bool passed;                              /* the loop had its pass before a replacement (B-101) */
mtype last = NOBODY;                      /* whose step was the last one */
byte load;                                /* messages without a fate, at most so many, up to three */
mtype mine = NOWHERE;                     /* the followed message; */
bool follow, ahead;                       /* it is the next one accepted; one is in front of it */
bool waiting, quiet;                      /* a when_idle waiter is registered; no call comes any more */

#define TURN_OPEN   (TURN_START <= window && window <= CLOSING)
#define STOPPABLE   (ANNOUNCE_RUNNING <= window && window <= CLOSING)
#define STOPPED     (status == CANCELLED || status == DISPOSED)
#define SETTLED     load = (queued || steering -> load : 0)
#define ACCEPTED    load = (load < 3 -> load + 1 : 3)
#define AT(w)       (window == w && status == RUNNING)       /* nothing stops this visit */
#define CUT(w)      (window == w && STOPPED)                 /* a stop is in effect */
#define KEPT(w)     (window == w && status == CANCELLED)     /* a cancel is, no dispose */

#ifdef EDGES
c_decl { static int w0, s0, q0, t0, m0; static const char *who; }
#define BEFORE(word) c_code { who = word; w0 = now.window; s0 = now.status; q0 = now.queued; \
    t0 = now.steering; m0 = now.marker; };
#define AFTER c_code { printf("edge %d %d %d %d %d %s %d %d %d %d %d\n", w0, s0, q0, t0, m0, who, \
    now.window, now.status, now.queued, now.steering, now.marker); };
#else
#define BEFORE(word)
#define AFTER
#endif

/* One call, and one visit of the driver: all or nothing, and afterwards the invariants hold. */
#define CALL(word, guard) d_step { (guard) -> BEFORE(#word) last = word;
#define VISIT(guard)      d_step { (guard) -> BEFORE("DRIVER") last = DRIVER;
#define END               ; invariants(); AFTER skip }

inline invariants() {
    assert(marker == ABSENT || (STOPPABLE && STOPPED));                    /* B-103, B-104, B-35 */
    assert(status != CANCELLED || !STOPPABLE || marker == ARMED);                        /* A-26 */
    assert(!steering || status == RUNNING);                                              /* C-13 */
    assert(status != DISPOSED || (!queued && !steering));                                /* C-14 */
    assert(last != CANCEL || (!queued && !steering));                              /* A-24, C-07 */
    assert(window != PARKED || (status == IDLE && !queued && !steering));          /* C-04, C-09 */
    assert(window != EXITED || (status == DISPOSED && marker == ABSENT));                /* B-39 */
    assert(status == DISPOSED || (status == IDLE) ==                               /* A-30, A-51 */
           (window == PARKED || window == WOKEN || window == ANNOUNCE_IDLE));
    assert(!failed || window == STEP_END);                                 /* reported at CLOSING */
    assert((ending != ERROR && ending != REJECTED && ending != MAX_STEPS) ||
           window == CLOSING || !TURN_OPEN);                                      /* B-75, B-191 */
    assert(calls == 0 || (RESULT <= window && window <= TOOL_BODY));                    /* B-124 */
    assert(window != TURN_END || ((ending != ABORTED || STOPPED) &&                /* A-27, B-47 */
                                  (ending != DISPOSED_END || status == DISPOSED)));
    assert((mine != IN_QUEUE || queued) && (mine != IN_STEERING || steering));           /* A-54 */
    assert(mine != IN_BATCH || window == TURN_START || window == PROMPTS);         /* B-53, B-194 */
    assert(!waiting || (window != PARKED && window != EXITED))                     /* A-32, A-80 */
}

/* ---- parts of a step ---------------------------------------------------------------------- */
inline becomes(next) {                                                             /* A-40, A-41 */
    assert(status != DISPOSED && status != next && !(status == IDLE && next == CANCELLED));
    status = next
}

inline enqueue() {                                       /* A-02; C-03: and a parked driver wakes */
    queued = true; ACCEPTED;
    if :: follow -> mine = IN_QUEUE; follow = false :: else fi;
    if :: window == PARKED -> window = WOKEN :: else fi
}

inline discard_inbox() {                                            /* A-24, A-25, A-54, C-07, C-12 */
    if :: mine == IN_QUEUE || mine == IN_STEERING -> mine = DISCARDED :: else fi;
    queued = false; steering = false; load = (window == TURN_START || window == PROMPTS -> load : 0)
}

inline requeue_steering() {                                               /* A-13, B-105, C-10, C-15 */
    queued = queued || steering; steering = false;
    if :: mine == IN_STEERING -> mine = IN_QUEUE :: else fi
}

inline drain_steering() {                                              /* A-10, A-12, B-106, C-01 */
    assert(status == RUNNING && marker == ABSENT && TURN_OPEN);
    steering = false; if :: mine == IN_STEERING -> mine = RECORDED :: else fi
}
inline record_batch() { SETTLED; if :: mine == IN_BATCH -> mine = RECORDED :: else fi }

inline release() {                                                                 /* A-65, A-76 */
    assert(window == EXITED || (!queued && !steering && (window == PARKED || window == ANNOUNCE_IDLE)));
    waiting = false
}

inline open_turn() {                                                         /* A-06, B-99, B-106 */
    assert(queued && status == RUNNING && marker == ABSENT);
    queued = false; if :: mine == IN_QUEUE -> mine = IN_BATCH :: else fi;
    ending = COMPLETED; window = TURN_START
}
inline not_opened() {                             /* B-83, B-110, B-193: batch discarded, no turn */
    SETTLED; window = FLUSH; if :: mine == IN_BATCH -> mine = DISCARDED :: else fi
}
inline open_step() { drain_steering(); wants_step = false; window = ASSEMBLY }     /* B-56, B-100 */

inline end_step() {                                   /* B-56; B-123, B-124: every call is answered */
    calls = 0; truncated = false; window = STEP_END;  /* B-68; B-78, B-116: or left for the next turn */
    if :: steering && status == RUNNING && !failed -> drain_steering(); wants_step = true :: else fi
}

inline close() { failed = false; wants_step = false; steps = 0; window = CLOSING }          /* B-191 */
inline report() { assert(status == RUNNING); ending = ERROR; close() }  /* B-75, B-76; B-97: not if stopped */

inline end_turn() {                                /* B-96: the first that applies; B-103: the marker */
    if
    :: ending == ERROR                                                             /* B-49, B-98 */
    :: ending != ERROR && status == DISPOSED -> ending = DISPOSED_END              /* B-47, B-48 */
    :: ending == REJECTED && status != DISPOSED                                          /* B-12 */
    :: ending != ERROR && ending != REJECTED && status == CANCELLED -> ending = ABORTED  /* B-50 */
    :: else                                        /* max-steps, max-tokens, completed as decided */
    fi;
    SETTLED; marker = ABSENT; window = TURN_END
}

inline go_idle() {
    becomes(IDLE); marker = ABSENT; passed = false; load = 0; window = ANNOUNCE_IDLE; release()
}
inline go_park() { window = PARKED; release() }
inline go_exit() { marker = ABSENT; passed = false; window = EXITED; release() }   /* B-102, A-33 */
inline go_running() {                                /* A-51, B-192: announced unless it is so already */
    marker = ABSENT; passed = false; window = ANNOUNCE_RUNNING;
    if :: status != RUNNING -> becomes(RUNNING) :: else fi
}
/* ---- the surroundings: every call, at any instant (B-132) ----------------------------------- */
inline call() { if
    :: CALL(SEND, status != DISPOSED)       enqueue()                          END  /* A-02, A-05, A-52 */
    :: CALL(SEND, status == DISPOSED)       skip                               END  /* A-20: refused */
    :: CALL(STEER, status == RUNNING)                                               /* A-10, B-100 */
           steering = true; ACCEPTED;
           if :: follow -> mine = IN_STEERING; follow = false :: else fi       END
    :: CALL(STEER, status == IDLE)          enqueue()                          END  /* A-11, B-04 */
    :: CALL(STEER, status == CANCELLED)     enqueue()                          END  /* A-12, B-09, B-101 */
    :: CALL(STEER, status == DISPOSED)      skip                               END  /* A-20: refused */
    :: CALL(INJECT, status != DISPOSED)     skip                               END  /* A-14 to A-16, A-73 */
    :: CALL(INJECT, status == DISPOSED)     skip                               END  /* A-20: refused */
    :: CALL(CANCEL, status == RUNNING && STOPPABLE)                    /* A-24, A-26, A-27, A-56, B-103 */
           discard_inbox(); marker = ARMED; becomes(CANCELLED)                 END
    :: CALL(CANCEL, status == CANCELLED && STOPPABLE)       discard_inbox()    END  /* A-28, B-101 */
    :: CALL(CANCEL, status != DISPOSED && !STOPPABLE)       discard_inbox()    END  /* no turn: A-22, B-29 */
    :: CALL(CANCEL, status == DISPOSED)     skip                               END  /* A-20, B-48 */
    :: CALL(DISPOSE, status != DISPOSED && window != PARKED)                   /* A-57, B-39 to B-47 */
           discard_inbox(); becomes(DISPOSED)                                  END
    :: CALL(DISPOSE, window == PARKED)      becomes(DISPOSED); go_exit()       END  /* A-77, B-38, B-94 */
    :: CALL(DISPOSE, status == DISPOSED)    skip                               END  /* A-40 */
fi }

/* ---- the driver: how its visit to the present window came out -------------------------------- */
inline visit() { if
    :: VISIT(window == WOKEN && queued)                          go_running()  END  /* A-51 */
    :: VISIT(window == WOKEN && !queued && status == IDLE)       go_park()     END  /* A-36, B-02, C-09 */
    :: VISIT(window == WOKEN && status == DISPOSED)              go_exit()     END  /* B-39 */

    :: VISIT(AT(ANNOUNCE_RUNNING))                               open_turn()   END  /* A-06, B-99, B-100 */
    :: VISIT(KEPT(ANNOUNCE_RUNNING) && !queued)                 go_idle()      END  /* B-05, B-102 */
    :: VISIT(KEPT(ANNOUNCE_RUNNING) && queued && !passed)       passed = true  END  /* B-101 */
    :: VISIT(KEPT(ANNOUNCE_RUNNING) && queued && passed)        go_running()   END  /* B-06, B-102 */
    :: VISIT(window == ANNOUNCE_RUNNING && status == DISPOSED)   go_exit()     END  /* B-40, B-102 */

    :: VISIT(AT(TURN_START))                                window = PROMPTS   END  /* B-53, B-79, B-87 */
    :: VISIT(CUT(TURN_START))             ending = ABORTED; window = PROMPTS   END  /* B-08, B-41, B-194 */
    :: VISIT(AT(TURN_START) && last == DRIVER)                   not_opened()  END  /* no call yet: B-193 */

    :: VISIT(AT(PROMPTS))                          record_batch(); open_step() END  /* B-88 to B-90 */
    :: VISIT(window == PROMPTS && status != DISPOSED && ending != ABORTED)          /* all were blocked */
           record_batch(); ending = REJECTED; close()                          END  /* B-12, B-91 */
    :: VISIT(AT(PROMPTS))                             record_batch(); report() END  /* last raised, B-92 */
    :: VISIT(AT(PROMPTS) && load > 1)                            /* broke off, some behind it: B-109 */
           queued = true; load--;
           if :: mine == IN_BATCH && ahead -> mine = IN_QUEUE; ahead = false :: else -> record_batch() fi;
           report()                                                            END
    :: VISIT(CUT(PROMPTS))                            record_batch(); close()  END  /* B-11, B-41, B-194 */

    :: VISIT(AT(ASSEMBLY))                                  window = PRE_STEP  END  /* B-56, B-58 */
    :: VISIT(AT(ASSEMBLY))                                       report()      END  /* B-127 */
    :: VISIT(CUT(ASSEMBLY))                                      close()       END  /* B-13, B-41 */

    :: VISIT(AT(PRE_STEP))   steps = steps + STEP_COST; window = STEP_START   END  /* B-55 */
    :: VISIT(AT(PRE_STEP))                                       report()      END  /* B-127 */
    :: VISIT(CUT(PRE_STEP))                                      close()       END  /* B-14, B-41, B-42 */

    :: VISIT(AT(STEP_START))                                window = REQUEST   END  /* B-56, B-81 */
    :: VISIT(AT(STEP_START))                      failed = true; end_step()    END  /* B-195 */
    :: VISIT(CUT(STEP_START))                                    end_step()    END  /* B-15, B-43 */

    :: VISIT(AT(REQUEST))                                   window = STREAM    END  /* B-58 */
    :: VISIT(AT(REQUEST))                         failed = true; end_step()    END  /* A-44, B-75 */
    :: VISIT(CUT(REQUEST))                                       end_step()    END  /* B-16 */

    :: VISIT(AT(STREAM))                                    window = RESULT    END  /* B-59 */
    :: VISIT(AT(STREAM))   truncated = true; ending = MAX_TOKENS; window = RESULT END  /* B-73, B-74 */
    :: VISIT(AT(STREAM))                          failed = true; end_step()    END  /* B-21, B-77, B-116 */
    :: VISIT(CUT(STREAM))                                        end_step()    END  /* B-17 to B-20 */

    :: VISIT(AT(RESULT))                                         end_step()    END  /* no calls, B-60, B-73 */
    :: VISIT(AT(RESULT) && !truncated) calls = 1; wants_step = true; window = CHECKPOINT END  /* B-138 */
    :: VISIT(AT(RESULT) && !truncated) calls = 2; wants_step = true; window = CHECKPOINT END  /* or more */
    :: VISIT(AT(RESULT))                          failed = true; end_step()    END  /* B-140 */
    :: VISIT(CUT(RESULT))                                        end_step()    END  /* B-22, B-23, B-137 */

    :: VISIT(AT(CHECKPOINT))                                window = TOOL_CALL END  /* B-138 */
    :: VISIT(AT(CHECKPOINT))                      failed = true; end_step()    END  /* B-138 */
    :: VISIT(CUT(CHECKPOINT))                                    end_step()    END  /* B-63, B-123 */

    :: VISIT(AT(TOOL_CALL))                                 window = TOOL_BODY END  /* allowed, B-125 */
    :: VISIT(AT(TOOL_CALL) && calls > 1)                         calls--       END  /* answered: next, B-63 */
    :: VISIT(AT(TOOL_CALL) && calls == 1)                        end_step()    END  /* answered, B-127 */
    :: VISIT(AT(TOOL_CALL))                       failed = true; end_step()    END  /* B-127, B-124 */
    :: VISIT(CUT(TOOL_CALL))                                     end_step()    END  /* B-24, B-123 */

    :: VISIT(AT(TOOL_BODY) && calls > 1)         calls--; window = TOOL_CALL   END  /* B-63 */
    :: VISIT(AT(TOOL_BODY) && calls == 1)                        end_step()    END  /* B-67 */
    :: VISIT(AT(TOOL_BODY))                       failed = true; end_step()    END  /* B-124, B-128 */
    :: VISIT(CUT(TOOL_BODY))                                     end_step()    END  /* B-25, B-44, B-141 */

    :: VISIT(AT(STEP_END) && !failed)                   window = CONTINUATION  END  /* B-56 */
    :: VISIT(AT(STEP_END) && failed)                             report()      END  /* B-75 */
    :: VISIT(CUT(STEP_END))                                      close()       END  /* B-26, B-97, B-108 */

    /* CONTINUATION: going on is always possible by a vote, stopping is not with steering there */
    :: VISIT(AT(CONTINUATION) && steps < LIMIT)                  open_step()   END  /* B-68 to B-70 */
    :: VISIT(AT(CONTINUATION) && steps >= LIMIT) ending = MAX_STEPS; close()   END  /* would go on: B-129 */
    :: VISIT(AT(CONTINUATION) && !steering && wants_step)        close()       END  /* voted stop, B-71 */
    :: VISIT(AT(CONTINUATION) && !steering && !wants_step)       close()       END  /* B-68, B-74 */
    :: VISIT(AT(CONTINUATION))                                   report()      END  /* B-72 */
    :: VISIT(CUT(CONTINUATION))                                  close()       END  /* B-27, B-45, B-50 */

    :: VISIT(window == CLOSING)                                  end_turn()    END  /* B-84, B-98, B-191 */
    :: VISIT(window == TURN_END)                            window = FLUSH     END  /* B-82, B-86 */

    /* FLUSH, ended or failed (B-85): steering, the queue and the decision in one stretch (B-105) */
    :: VISIT(window == FLUSH && status != DISPOSED && (queued || steering))  /* A-05, A-13, A-52, B-10 */
           requeue_steering(); go_running()                                    END  /* B-07, B-111, B-192 */
    :: VISIT(window == FLUSH && status != DISPOSED && !queued && !steering) go_idle() END  /* A-31, B-30 */
    :: VISIT(window == FLUSH && status == DISPOSED)              go_exit()     END  /* B-46 */

    :: VISIT(window == ANNOUNCE_IDLE && queued)                  go_running()  END  /* B-33, C-04 */
    :: VISIT(window == ANNOUNCE_IDLE && !queued && status == IDLE) go_park()   END  /* A-38, B-34 */
    :: VISIT(window == ANNOUNCE_IDLE && status == DISPOSED)      go_exit()     END
fi }

#ifdef EDGES
active proctype agent() { do :: call() :: visit() od }
#else
active proctype surroundings() {
    do
    :: call()
    :: d_step { mine == NOWHERE && !follow -> follow = true }         /* the next message accepted */
    :: d_step { mine == NOWHERE && !follow -> follow = true; ahead = true }
    :: d_step { !waiting && (status != IDLE || queued) && window != EXITED ->
           waiting = true }                                                  /* when_idle: A-29, A-30 */
    :: d_step { quiet = true; last = NOBODY } -> break
    od
}

active proctype driver() {
end: do
    :: visit()
    :: window == EXITED -> break
    od
}

/* Formulas; x_: a claim without its premise, or a case that must be met. */
#define at(w)    (window == w)
#define armed    (marker == ARMED)
#define stop_ending (ending == ABORTED || ending == DISPOSED_END || ending == REJECTED || ending == ERROR)
#define pending  (mine == IN_QUEUE || mine == IN_STEERING || mine == IN_BATCH)
#define stopped  (armed || status == DISPOSED)
#define in_turn  (PROMPTS <= window && window <= CONTINUATION)
#define never_entered(w) [] ((stopped && window != w) -> ((window != w) W !stopped))
#define nothing_lost ([] (last != CANCEL && last != DISPOSE && mine != DISCARDED))

ltl s_pre_step     { never_entered(PRE_STEP) }                                          /* B-13, B-41 */
ltl s_step_start   { never_entered(STEP_START) }                                        /* B-14, B-134 */
ltl s_request      { never_entered(REQUEST) }                                           /* B-15, B-43 */
ltl s_stream       { never_entered(STREAM) }                                            /* B-16, B-134 */
ltl s_result       { never_entered(RESULT) }                                            /* B-19 */
ltl s_tool_call    { never_entered(TOOL_CALL) }                                         /* B-23, B-25 */
ltl s_tool_body    { never_entered(TOOL_BODY) }                                         /* B-24, B-125 */
ltl s_continuation { never_entered(CONTINUATION) }                                      /* B-26, B-108 */
ltl s_unreported   { [] ((stopped && ending != ERROR) -> ((ending != ERROR) W !stopped)) } /* B-97 */
ltl s_closing      { [] (in_turn -> (in_turn W at(CLOSING))) }                          /* B-191 */
ltl s_closed       { [] (at(CLOSING) -> (at(CLOSING) W at(TURN_END))) }
ltl s_late_stop    { [] ((at(CLOSING) && stopped) -> (at(CLOSING) W (at(TURN_END) && stop_ending))) }
ltl s_announces    { [] (at(FLUSH) -> ((window != TURN_START) W at(ANNOUNCE_RUNNING))) } /* B-192 */
ltl s_unopened     { [] ((at(TURN_START) && mine == IN_BATCH) -> ((mine == IN_BATCH) W
                         (at(PROMPTS) || (at(FLUSH) && mine == DISCARDED)))) }          /* B-193, B-194 */
ltl s_unasked      { [] ((at(TURN_START) && stopped) -> ((ending != REJECTED) W at(FLUSH))) } /* B-194 */
ltl s_opened       { [] ((at(TURN_START) && stopped) -> ((window != FLUSH) W at(CLOSING))) } /* B-193 */
ltl s_disposed     { [] (status == DISPOSED -> [] (status == DISPOSED && !queued && !steering)) } /* C-14 */
ltl s_no_new_turn  { [] ((status == DISPOSED && !TURN_OPEN) -> [] !TURN_OPEN) }         /* B-40 */
ltl s_cancel       { [] (last == CANCEL -> (!queued && !steering)) }                    /* A-24 */
ltl s_ended        { [] (AT(FLUSH) -> ((status != CANCELLED) W (window != FLUSH))) }    /* B-30 */
ltl s_ending_kept  { [] ((at(TURN_END) && ending == COMPLETED) ->
                         ((ending == COMPLETED) W (window != TURN_END && window != FLUSH))) } /* B-29 */
ltl s_error_kept   { [] ((at(CLOSING) && ending == ERROR) -> ((ending == ERROR) W at(FLUSH))) } /* B-49 */
ltl s_no_idle      { [] ((at(FLUSH) && pending) -> ((status != IDLE) W !pending)) }     /* A-05, A-13 */
ltl s_waiter       { [] ((waiting && status == RUNNING) ->
                         (waiting W (at(ANNOUNCE_IDLE) || at(EXITED)))) }               /* A-31, A-33 */
ltl s_recorded     { [] (mine == RECORDED -> [] (mine == RECORDED)) }                   /* A-54 */
ltl s_discarded    { [] (mine == DISCARDED -> [] (mine == DISCARDED)) }                 /* A-54 */

ltl l_exits        { [] (status == DISPOSED -> <> at(EXITED)) }                         /* B-94, A-32 */
ltl l_closes       { [] ((armed && TURN_OPEN) -> (armed U (at(TURN_END) && stop_ending))) } /* B-135 */
ltl l_unwinds      { [] (status == CANCELLED -> <> (status != CANCELLED)) }             /* B-135, A-52 */
ltl l_fate         { [] (pending -> <> !pending) }                                      /* A-54, B-136 */
ltl l_steering     { [] (mine == IN_STEERING -> <> (mine == RECORDED || mine == DISCARDED)) } /* A-13 */
ltl l_recorded     { nothing_lost -> [] (pending -> <> (mine == RECORDED)) }            /* B-111 */
ltl l_rests        { [] (quiet -> <> [] (at(PARKED) || at(EXITED))) }                   /* B-136 */
ltl l_waiters      { [] ((quiet && waiting) -> <> !waiting) }                           /* A-80 */

ltl x_recorded     { [] (pending -> <> (mine == RECORDED)) }                            /* no premise */
ltl x_rests        { [] <> (at(PARKED) || at(EXITED)) }
ltl x_waiters      { [] (waiting -> <> !waiting) }
ltl x_exits        { <> at(EXITED) }
ltl x_rejected     { [] !(at(TURN_END) && status == CANCELLED && ending == REJECTED) }  /* B-12, met */
ltl x_error        { [] !(at(TURN_END) && status == CANCELLED && ending == ERROR) }     /* B-98, met */
ltl x_closing      { [] ((AT(CLOSING) && ending == COMPLETED) ->                        /* B-191, met */
                         ((ending == COMPLETED) W (at(FLUSH) || status == DISPOSED))) }
ltl x_unopened     { ([] (last != CANCEL && last != DISPOSE)) -> [] (mine != DISCARDED) }    /* B-193, met */
ltl x_step_start   { [] (AT(STEP_START) -> (AT(STEP_START) W (at(REQUEST) || stopped))) } /* B-195, met */
ltl x_leftover     { [] !(at(FLUSH) && mine == IN_STEERING) }                           /* A-13, met */
#endif
