/* Generated from the declaration by `python -m statemachine render`. Do not edit.

   With -DEDGES every step is printed as: the shape before, the input, the shape after.
   Otherwise the driver and its surroundings are two processes, so that Spin's weak
   fairness is that of the driver, and `last` remembers the input for the premises. */

#define Window_PARKED 0
#define Window_WOKEN 1
#define Window_ANNOUNCE_RUNNING 2
#define Window_TURN_START 3
#define Window_PROMPTS 4
#define Window_ASSEMBLY 5
#define Window_PRE_STEP 6
#define Window_STEP_START 7
#define Window_REQUEST 8
#define Window_STREAM 9
#define Window_RESULT 10
#define Window_CHECKPOINT 11
#define Window_TOOL_CALL 12
#define Window_TOOL_BODY 13
#define Window_STEP_END 14
#define Window_CONTINUATION 15
#define Window_CLOSING 16
#define Window_TURN_END 17
#define Window_FLUSH 18
#define Window_ANNOUNCE_IDLE 19
#define Window_EXITED 20

#define Status_IDLE 0
#define Status_RUNNING 1
#define Status_CANCELLED 2
#define Status_DISPOSED 3

#define Inbox_EMPTY 0
#define Inbox_QUEUED 1
#define Inbox_STEERING 2
#define Inbox_BOTH 3

#define Marker_ABSENT 0
#define Marker_ARMED 1

#define Ending_COMPLETED 0
#define Ending_ABORTED 1
#define Ending_DISPOSED 2
#define Ending_ERROR 3
#define Ending_REJECTED 4
#define Ending_MAX_TOKENS 5
#define Ending_MAX_STEPS 6
#define Ending_INTERRUPTED 7

#define Input_SEND 0
#define Input_STEER 1
#define Input_INJECT 2
#define Input_CANCEL 3
#define Input_DISPOSE 4
#define Input_DONE 5
#define Input_FAILED 6
#define Input_CUT 7
#define Input_YIELDED 8
#define Input_UNOPENED 9
#define Input_BLOCKED 10
#define Input_BROKE_OFF 11
#define Input_TRUNCATED 12
#define Input_CALLED 13
#define Input_ALLOWED 14
#define Input_ANSWERED 15
#define Input_STOP 16
#define Input_CONTINUE 17
#define Input_EXHAUSTED 18
#define PAUSE 19

byte window = Window_PARKED;
byte status = Status_IDLE;
byte inbox = Inbox_EMPTY;
bit marker = Marker_ABSENT;
byte ending = Ending_COMPLETED;
bit failed = 0;
bit wants_step = 0;

#ifdef EDGES
c_decl { static int before; }
#define SHAPE ((((((now.window * 4 + now.status) * 4 + now.inbox) * 2 + now.marker) * 8 + now.ending) * 2 + now.failed) * 2 + now.wants_step)
#define STILL true
#define begin() c_code { before = SHAPE; }
#define finish(posted) c_code { printf("edge %d %d %d\n", before, posted, SHAPE); }
#else
byte last = PAUSE;
#define STILL false  /* a step of the driver that changes nothing is no step */
#define begin() skip
#define finish(posted) last = posted
#endif

#define when_disposed ((status == Status_DISPOSED))
#define when_always (true)
#define when_running ((status == Status_RUNNING))
#define when_has_work ((inbox == Inbox_QUEUED || inbox == Inbox_STEERING || inbox == Inbox_BOTH))
#define when_stopped ((status == Status_CANCELLED || status == Status_DISPOSED))
#define when_has_steering ((inbox == Inbox_STEERING || inbox == Inbox_BOTH))
#define when_has_queued ((inbox == Inbox_QUEUED || inbox == Inbox_BOTH))
#define when_replaced (((status == Status_CANCELLED) && (inbox == Inbox_QUEUED || inbox == Inbox_BOTH)))
#define when_cancelled ((status == Status_CANCELLED))
#define when_disposed_and_armed (((status == Status_DISPOSED) && (marker == Marker_ARMED)))
#define when_stopped_and_failed (((status == Status_CANCELLED || status == Status_DISPOSED) && (failed == 1)))
#define when_failed ((failed == 1))
#define when_would_go_on ((((inbox == Inbox_EMPTY || inbox == Inbox_QUEUED) && (wants_step == 1)) || (inbox == Inbox_STEERING || inbox == Inbox_BOTH)))
#define when_reported_and_armed (((marker == Marker_ARMED) && (ending == Ending_ERROR)))
#define when_reported ((ending == Ending_ERROR))
#define when_rejected_and_armed (((marker == Marker_ARMED) && (ending == Ending_REJECTED)))
#define when_rejected ((ending == Ending_REJECTED))
#define when_out_of_steps ((ending == Ending_MAX_STEPS))
#define when_out_of_tokens ((ending == Ending_MAX_TOKENS))
#define when_running_with_work (((status == Status_RUNNING) && (inbox == Inbox_QUEUED || inbox == Inbox_STEERING || inbox == Inbox_BOTH)))

inline status_begin() {
  if
  :: status == Status_IDLE -> status = Status_RUNNING
  :: status == Status_CANCELLED -> status = Status_RUNNING
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline status_cancel() {
  if
  :: status == Status_RUNNING -> status = Status_CANCELLED
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline status_settle() {
  if
  :: status == Status_RUNNING -> status = Status_IDLE
  :: status == Status_CANCELLED -> status = Status_IDLE
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline status_end() {
  if
  :: status == Status_IDLE -> status = Status_DISPOSED
  :: status == Status_RUNNING -> status = Status_DISPOSED
  :: status == Status_CANCELLED -> status = Status_DISPOSED
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline marker_arm() {
  if
  :: marker == Marker_ABSENT -> marker = Marker_ARMED
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline marker_retire() {
  if
  :: marker == Marker_ARMED -> marker = Marker_ABSENT
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline inbox_queue() {
  if
  :: inbox == Inbox_EMPTY -> inbox = Inbox_QUEUED
  :: inbox == Inbox_QUEUED -> inbox = Inbox_QUEUED
  :: inbox == Inbox_STEERING -> inbox = Inbox_BOTH
  :: inbox == Inbox_BOTH -> inbox = Inbox_BOTH
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline inbox_steer() {
  if
  :: inbox == Inbox_EMPTY -> inbox = Inbox_STEERING
  :: inbox == Inbox_QUEUED -> inbox = Inbox_BOTH
  :: inbox == Inbox_STEERING -> inbox = Inbox_STEERING
  :: inbox == Inbox_BOTH -> inbox = Inbox_BOTH
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline inbox_drain() {
  if
  :: inbox == Inbox_QUEUED -> inbox = Inbox_EMPTY
  :: inbox == Inbox_BOTH -> inbox = Inbox_STEERING
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline inbox_take() {
  if
  :: inbox == Inbox_EMPTY -> inbox = Inbox_EMPTY
  :: inbox == Inbox_QUEUED -> inbox = Inbox_QUEUED
  :: inbox == Inbox_STEERING -> inbox = Inbox_EMPTY
  :: inbox == Inbox_BOTH -> inbox = Inbox_QUEUED
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline inbox_merge() {
  if
  :: inbox == Inbox_QUEUED -> inbox = Inbox_QUEUED
  :: inbox == Inbox_STEERING -> inbox = Inbox_QUEUED
  :: inbox == Inbox_BOTH -> inbox = Inbox_QUEUED
  :: else -> assert(false)  /* an illegal move */
  fi
}

inline inbox_clear() {
  if
  :: inbox == Inbox_EMPTY -> inbox = Inbox_EMPTY
  :: inbox == Inbox_QUEUED -> inbox = Inbox_EMPTY
  :: inbox == Inbox_STEERING -> inbox = Inbox_EMPTY
  :: inbox == Inbox_BOTH -> inbox = Inbox_EMPTY
  :: else -> assert(false)  /* an illegal move */
  fi
}

/* send in 21 windows when disposed: A-20 */
#define holds_0 (true && when_disposed)
#define fires_0 (holds_0)
/* send in parked when always: A-02 A-77 */
#define holds_1 ((window == Window_PARKED) && when_always)
#define fires_1 (holds_1 && !holds_0)
/* send in 21 windows when always: A-05 A-52 */
#define holds_2 (true && when_always)
#define fires_2 (holds_2 && !holds_0 && !holds_1)
/* steer in 21 windows when disposed: A-20 */
#define holds_3 (true && when_disposed)
#define fires_3 (holds_3)
/* steer in 21 windows when running: A-10 C-13 */
#define holds_4 (true && when_running)
#define fires_4 (holds_4 && !holds_3)
/* steer in parked when always: A-11 A-77 */
#define holds_5 ((window == Window_PARKED) && when_always)
#define fires_5 (holds_5 && !holds_3 && !holds_4)
/* steer in 21 windows when always: A-11 A-12 */
#define holds_6 (true && when_always)
#define fires_6 (holds_6 && !holds_3 && !holds_4 && !holds_5)
/* inject in 21 windows when disposed: A-20 */
#define holds_7 (true && when_disposed)
#define fires_7 (holds_7)
/* inject in 14 windows when always: A-16 A-74 */
#define holds_8 ((window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING) && when_always)
#define fires_8 (holds_8 && !holds_7)
/* inject in 21 windows when always: A-14 A-15 A-17 */
#define holds_9 (true && when_always)
#define fires_9 (holds_9 && !holds_7 && !holds_8)
/* cancel in 15 windows when running: A-24 A-27 A-56 */
#define holds_10 ((window == Window_ANNOUNCE_RUNNING || window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING) && when_running)
#define fires_10 (holds_10)
/* cancel in 21 windows when has_work: A-23 A-28 B-29 */
#define holds_11 (true && when_has_work)
#define fires_11 (holds_11 && !holds_10)
/* cancel in 21 windows when always: A-22 */
#define holds_12 (true && when_always)
#define fires_12 (holds_12 && !holds_10 && !holds_11)
/* dispose in 21 windows when disposed: A-40 F-17 */
#define holds_13 (true && when_disposed)
#define fires_13 (holds_13)
/* dispose in parked when always: B-38 */
#define holds_14 ((window == Window_PARKED) && when_always)
#define fires_14 (holds_14 && !holds_13)
/* dispose in 15 windows when running: A-57 B-44 C-14 */
#define holds_15 ((window == Window_ANNOUNCE_RUNNING || window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING) && when_running)
#define fires_15 (holds_15 && !holds_13)
/* dispose in flush when always: B-46 B-121 */
#define holds_16 ((window == Window_FLUSH) && when_always)
#define fires_16 (holds_16 && !holds_13)
/* dispose in 21 windows when always: B-39 B-47 */
#define holds_17 (true && when_always)
#define fires_17 (holds_17 && !holds_13 && !holds_14 && !holds_15 && !holds_16)
/* done in turn-start when always: B-08 B-41 */
#define holds_18 ((window == Window_TURN_START) && when_always)
#define fires_18 (holds_18)
/* done in prompts when stopped: B-11 B-12 B-87 */
#define holds_19 ((window == Window_PROMPTS) && when_stopped)
#define fires_19 (holds_19)
/* failed in prompts when stopped: B-11 B-12 B-87 */
#define holds_20 ((window == Window_PROMPTS) && when_stopped)
#define fires_20 (holds_20)
/* failed in prompts when always: B-11 B-12 B-87 */
#define holds_21 ((window == Window_PROMPTS) && when_always)
#define fires_21 (holds_21 && !holds_20)
/* done in prompts when always: B-11 B-12 B-87 */
#define holds_22 ((window == Window_PROMPTS) && when_always)
#define fires_22 (holds_22 && !holds_19)
/* done in assembly when stopped: B-13 B-56 */
#define holds_23 ((window == Window_ASSEMBLY) && when_stopped)
#define fires_23 (holds_23)
/* cut in assembly when stopped: B-13 B-56 */
#define holds_24 ((window == Window_ASSEMBLY) && when_stopped)
#define fires_24 (holds_24)
/* failed in assembly when stopped: B-13 B-56 */
#define holds_25 ((window == Window_ASSEMBLY) && when_stopped)
#define fires_25 (holds_25)
/* failed in assembly when always: B-13 B-56 */
#define holds_26 ((window == Window_ASSEMBLY) && when_always)
#define fires_26 (holds_26 && !holds_25)
/* done in assembly when always: B-13 B-56 */
#define holds_27 ((window == Window_ASSEMBLY) && when_always)
#define fires_27 (holds_27 && !holds_23)
/* done in pre-step when stopped: B-14 B-57 */
#define holds_28 ((window == Window_PRE_STEP) && when_stopped)
#define fires_28 (holds_28)
/* cut in pre-step when stopped: B-14 B-57 */
#define holds_29 ((window == Window_PRE_STEP) && when_stopped)
#define fires_29 (holds_29)
/* failed in pre-step when stopped: B-14 B-57 */
#define holds_30 ((window == Window_PRE_STEP) && when_stopped)
#define fires_30 (holds_30)
/* failed in pre-step when always: B-14 B-57 */
#define holds_31 ((window == Window_PRE_STEP) && when_always)
#define fires_31 (holds_31 && !holds_30)
/* done in pre-step when always: B-14 B-57 */
#define holds_32 ((window == Window_PRE_STEP) && when_always)
#define fires_32 (holds_32 && !holds_28)
/* done in step-start when stopped: B-15 B-43 */
#define holds_33 ((window == Window_STEP_START) && when_stopped)
#define fires_33 (holds_33)
/* failed in step-start when stopped: B-15 B-43 */
#define holds_34 ((window == Window_STEP_START) && when_stopped)
#define fires_34 (holds_34)
/* failed in step-start when always: B-15 B-43 */
#define holds_35 ((window == Window_STEP_START) && when_always)
#define fires_35 (holds_35 && !holds_34)
/* done in step-start when always: B-15 B-43 */
#define holds_36 ((window == Window_STEP_START) && when_always)
#define fires_36 (holds_36 && !holds_33)
/* done in request when stopped: B-16 */
#define holds_37 ((window == Window_REQUEST) && when_stopped)
#define fires_37 (holds_37)
/* cut in request when stopped: B-16 */
#define holds_38 ((window == Window_REQUEST) && when_stopped)
#define fires_38 (holds_38)
/* failed in request when stopped: B-16 */
#define holds_39 ((window == Window_REQUEST) && when_stopped)
#define fires_39 (holds_39)
/* failed in request when always: B-16 */
#define holds_40 ((window == Window_REQUEST) && when_always)
#define fires_40 (holds_40 && !holds_39)
/* done in request when always: B-16 */
#define holds_41 ((window == Window_REQUEST) && when_always)
#define fires_41 (holds_41 && !holds_37)
/* done in stream when stopped: B-17 B-18 B-19 */
#define holds_42 ((window == Window_STREAM) && when_stopped)
#define fires_42 (holds_42)
/* truncated in stream when stopped: B-17 B-18 B-19 */
#define holds_43 ((window == Window_STREAM) && when_stopped)
#define fires_43 (holds_43)
/* cut in stream when stopped: B-17 B-18 B-19 */
#define holds_44 ((window == Window_STREAM) && when_stopped)
#define fires_44 (holds_44)
/* failed in stream when stopped: B-17 B-18 B-19 */
#define holds_45 ((window == Window_STREAM) && when_stopped)
#define fires_45 (holds_45)
/* failed in stream when always: B-17 B-18 B-19 */
#define holds_46 ((window == Window_STREAM) && when_always)
#define fires_46 (holds_46 && !holds_45)
/* done in stream when always: B-17 B-18 B-19 */
#define holds_47 ((window == Window_STREAM) && when_always)
#define fires_47 (holds_47 && !holds_42)
/* truncated in stream when always: B-17 B-18 B-19 */
#define holds_48 ((window == Window_STREAM) && when_always)
#define fires_48 (holds_48 && !holds_43)
/* done in result when stopped: B-22 B-23 B-62 */
#define holds_49 ((window == Window_RESULT) && when_stopped)
#define fires_49 (holds_49)
/* called in result when stopped: B-22 B-23 B-62 */
#define holds_50 ((window == Window_RESULT) && when_stopped)
#define fires_50 (holds_50)
/* failed in result when stopped: B-22 B-23 B-62 */
#define holds_51 ((window == Window_RESULT) && when_stopped)
#define fires_51 (holds_51)
/* failed in result when always: B-22 B-23 B-62 */
#define holds_52 ((window == Window_RESULT) && when_always)
#define fires_52 (holds_52 && !holds_51)
/* done in result when has_steering: A-10 B-56 */
#define holds_53 ((window == Window_RESULT) && when_has_steering)
#define fires_53 (holds_53 && !holds_49)
/* done in result when always: B-22 B-23 B-62 */
#define holds_54 ((window == Window_RESULT) && when_always)
#define fires_54 (holds_54 && !holds_49 && !holds_53)
/* called in result when always: B-22 B-23 B-62 */
#define holds_55 ((window == Window_RESULT) && when_always)
#define fires_55 (holds_55 && !holds_50)
/* done in checkpoint when stopped: B-138 */
#define holds_56 ((window == Window_CHECKPOINT) && when_stopped)
#define fires_56 (holds_56)
/* cut in checkpoint when stopped: B-138 */
#define holds_57 ((window == Window_CHECKPOINT) && when_stopped)
#define fires_57 (holds_57)
/* failed in checkpoint when stopped: B-138 */
#define holds_58 ((window == Window_CHECKPOINT) && when_stopped)
#define fires_58 (holds_58)
/* failed in checkpoint when always: B-138 */
#define holds_59 ((window == Window_CHECKPOINT) && when_always)
#define fires_59 (holds_59 && !holds_58)
/* done in checkpoint when always: B-138 */
#define holds_60 ((window == Window_CHECKPOINT) && when_always)
#define fires_60 (holds_60 && !holds_56)
/* allowed in tool-call when stopped: B-24 K-03 */
#define holds_61 ((window == Window_TOOL_CALL) && when_stopped)
#define fires_61 (holds_61)
/* answered in tool-call when stopped: B-24 K-03 */
#define holds_62 ((window == Window_TOOL_CALL) && when_stopped)
#define fires_62 (holds_62)
/* done in tool-call when stopped: B-24 K-03 */
#define holds_63 ((window == Window_TOOL_CALL) && when_stopped)
#define fires_63 (holds_63)
/* cut in tool-call when stopped: B-24 K-03 */
#define holds_64 ((window == Window_TOOL_CALL) && when_stopped)
#define fires_64 (holds_64)
/* failed in tool-call when stopped: B-24 K-03 */
#define holds_65 ((window == Window_TOOL_CALL) && when_stopped)
#define fires_65 (holds_65)
/* failed in tool-call when always: B-24 K-03 */
#define holds_66 ((window == Window_TOOL_CALL) && when_always)
#define fires_66 (holds_66 && !holds_65)
/* allowed in tool-call when always: B-24 K-03 */
#define holds_67 ((window == Window_TOOL_CALL) && when_always)
#define fires_67 (holds_67 && !holds_61)
/* answered in tool-call when always: B-24 K-03 */
#define holds_68 ((window == Window_TOOL_CALL) && when_always)
#define fires_68 (holds_68 && !holds_62)
/* done in tool-call when has_steering: A-10 B-56 */
#define holds_69 ((window == Window_TOOL_CALL) && when_has_steering)
#define fires_69 (holds_69 && !holds_63)
/* done in tool-call when always: B-24 K-03 */
#define holds_70 ((window == Window_TOOL_CALL) && when_always)
#define fires_70 (holds_70 && !holds_63 && !holds_69)
/* answered in tool-body when stopped: B-25 B-63 */
#define holds_71 ((window == Window_TOOL_BODY) && when_stopped)
#define fires_71 (holds_71)
/* done in tool-body when stopped: B-25 B-63 */
#define holds_72 ((window == Window_TOOL_BODY) && when_stopped)
#define fires_72 (holds_72)
/* cut in tool-body when stopped: B-25 B-63 */
#define holds_73 ((window == Window_TOOL_BODY) && when_stopped)
#define fires_73 (holds_73)
/* failed in tool-body when stopped: B-25 B-63 */
#define holds_74 ((window == Window_TOOL_BODY) && when_stopped)
#define fires_74 (holds_74)
/* failed in tool-body when always: B-25 B-63 */
#define holds_75 ((window == Window_TOOL_BODY) && when_always)
#define fires_75 (holds_75 && !holds_74)
/* answered in tool-body when always: B-25 B-63 */
#define holds_76 ((window == Window_TOOL_BODY) && when_always)
#define fires_76 (holds_76 && !holds_71)
/* done in tool-body when has_steering: A-10 B-56 */
#define holds_77 ((window == Window_TOOL_BODY) && when_has_steering)
#define fires_77 (holds_77 && !holds_72)
/* done in tool-body when always: B-25 B-63 */
#define holds_78 ((window == Window_TOOL_BODY) && when_always)
#define fires_78 (holds_78 && !holds_72 && !holds_77)
/* done in 2 windows when disposed: A-32 B-39 */
#define holds_79 ((window == Window_WOKEN || window == Window_ANNOUNCE_IDLE) && when_disposed)
#define fires_79 (holds_79)
/* done in 2 windows when has_queued: A-51 B-33 */
#define holds_80 ((window == Window_WOKEN || window == Window_ANNOUNCE_IDLE) && when_has_queued)
#define fires_80 (holds_80 && !holds_79)
/* done in 2 windows when always: A-36 A-38 B-02 */
#define holds_81 ((window == Window_WOKEN || window == Window_ANNOUNCE_IDLE) && when_always)
#define fires_81 (holds_81 && !holds_79 && !holds_80)
/* done in announce-running when running: B-99 B-100 */
#define holds_82 ((window == Window_ANNOUNCE_RUNNING) && when_running)
#define fires_82 (holds_82)
/* done in announce-running when replaced: B-101 */
#define holds_83 ((window == Window_ANNOUNCE_RUNNING) && when_replaced)
#define fires_83 (holds_83 && !holds_82)
/* done in announce-running when cancelled: B-05 B-102 */
#define holds_84 ((window == Window_ANNOUNCE_RUNNING) && when_cancelled)
#define fires_84 (holds_84 && !holds_82 && !holds_83)
/* done in announce-running when disposed_and_armed: B-40 B-104 */
#define holds_85 ((window == Window_ANNOUNCE_RUNNING) && when_disposed_and_armed)
#define fires_85 (holds_85 && !holds_82 && !holds_83 && !holds_84)
/* done in announce-running when disposed: B-40 */
#define holds_86 ((window == Window_ANNOUNCE_RUNNING) && when_disposed)
#define fires_86 (holds_86 && !holds_82 && !holds_83 && !holds_84 && !holds_85)
/* yielded in announce-running when replaced: B-06 B-102 B-136 */
#define holds_87 ((window == Window_ANNOUNCE_RUNNING) && when_replaced)
#define fires_87 (holds_87)
/* yielded in announce-running when cancelled: B-102 */
#define holds_88 ((window == Window_ANNOUNCE_RUNNING) && when_cancelled)
#define fires_88 (holds_88 && !holds_87)
/* yielded in announce-running when disposed_and_armed: B-102 B-104 */
#define holds_89 ((window == Window_ANNOUNCE_RUNNING) && when_disposed_and_armed)
#define fires_89 (holds_89 && !holds_87 && !holds_88)
/* unopened in turn-start when running: B-83 B-110 */
#define holds_90 ((window == Window_TURN_START) && when_running)
#define fires_90 (holds_90)
/* blocked in prompts when always: B-12 B-91 */
#define holds_91 ((window == Window_PROMPTS) && when_always)
#define fires_91 (holds_91)
/* broke-off in prompts when running: B-92 B-109 */
#define holds_92 ((window == Window_PROMPTS) && when_running)
#define fires_92 (holds_92)
/* done in step-end when stopped_and_failed: B-97 */
#define holds_93 ((window == Window_STEP_END) && when_stopped_and_failed)
#define fires_93 (holds_93)
/* done in step-end when stopped: B-26 B-45 B-108 */
#define holds_94 ((window == Window_STEP_END) && when_stopped)
#define fires_94 (holds_94 && !holds_93)
/* done in step-end when failed: B-75 B-76 */
#define holds_95 ((window == Window_STEP_END) && when_failed)
#define fires_95 (holds_95 && !holds_93 && !holds_94)
/* done in step-end when always: B-56 */
#define holds_96 ((window == Window_STEP_END) && when_always)
#define fires_96 (holds_96 && !holds_93 && !holds_94 && !holds_95)
/* continue in continuation when stopped: B-27 B-28 */
#define holds_97 ((window == Window_CONTINUATION) && when_stopped)
#define fires_97 (holds_97)
/* stop in continuation when stopped: B-27 */
#define holds_98 ((window == Window_CONTINUATION) && when_stopped)
#define fires_98 (holds_98)
/* exhausted in continuation when stopped: B-27 */
#define holds_99 ((window == Window_CONTINUATION) && when_stopped)
#define fires_99 (holds_99)
/* cut in continuation when stopped: B-118 */
#define holds_100 ((window == Window_CONTINUATION) && when_stopped)
#define fires_100 (holds_100)
/* failed in continuation when stopped: B-97 */
#define holds_101 ((window == Window_CONTINUATION) && when_stopped)
#define fires_101 (holds_101)
/* failed in continuation when always: B-72 B-127 */
#define holds_102 ((window == Window_CONTINUATION) && when_always)
#define fires_102 (holds_102 && !holds_101)
/* done in continuation when stopped: B-27 */
#define holds_103 ((window == Window_CONTINUATION) && when_stopped)
#define fires_103 (holds_103)
/* done in continuation when would_go_on: B-68 B-69 */
#define holds_104 ((window == Window_CONTINUATION) && when_would_go_on)
#define fires_104 (holds_104 && !holds_103)
/* done in continuation when always: B-68 */
#define holds_105 ((window == Window_CONTINUATION) && when_always)
#define fires_105 (holds_105 && !holds_103 && !holds_104)
/* continue in continuation when always: B-70 */
#define holds_106 ((window == Window_CONTINUATION) && when_always)
#define fires_106 (holds_106 && !holds_97)
/* stop in continuation when has_steering: B-69 */
#define holds_107 ((window == Window_CONTINUATION) && when_has_steering)
#define fires_107 (holds_107 && !holds_98)
/* stop in continuation when always: B-71 */
#define holds_108 ((window == Window_CONTINUATION) && when_always)
#define fires_108 (holds_108 && !holds_98 && !holds_107)
/* exhausted in continuation when would_go_on: B-129 */
#define holds_109 ((window == Window_CONTINUATION) && when_would_go_on)
#define fires_109 (holds_109 && !holds_99)
/* exhausted in continuation when always: B-129 */
#define holds_110 ((window == Window_CONTINUATION) && when_always)
#define fires_110 (holds_110 && !holds_99 && !holds_109)
/* done in closing when reported_and_armed: B-96 B-98 */
#define holds_111 ((window == Window_CLOSING) && when_reported_and_armed)
#define fires_111 (holds_111)
/* done in closing when reported: B-49 B-96 */
#define holds_112 ((window == Window_CLOSING) && when_reported)
#define fires_112 (holds_112 && !holds_111)
/* done in closing when disposed_and_armed: B-47 B-104 */
#define holds_113 ((window == Window_CLOSING) && when_disposed_and_armed)
#define fires_113 (holds_113 && !holds_111 && !holds_112)
/* done in closing when disposed: B-41 B-44 */
#define holds_114 ((window == Window_CLOSING) && when_disposed)
#define fires_114 (holds_114 && !holds_111 && !holds_112 && !holds_113)
/* done in closing when rejected_and_armed: B-12 B-96 */
#define holds_115 ((window == Window_CLOSING) && when_rejected_and_armed)
#define fires_115 (holds_115 && !holds_111 && !holds_112 && !holds_113 && !holds_114)
/* done in closing when rejected: B-91 */
#define holds_116 ((window == Window_CLOSING) && when_rejected)
#define fires_116 (holds_116 && !holds_111 && !holds_112 && !holds_113 && !holds_114 && !holds_115)
/* done in closing when cancelled: B-36 B-50 */
#define holds_117 ((window == Window_CLOSING) && when_cancelled)
#define fires_117 (holds_117 && !holds_111 && !holds_112 && !holds_113 && !holds_114 && !holds_115 && !holds_116)
/* done in closing when out_of_steps: B-129 */
#define holds_118 ((window == Window_CLOSING) && when_out_of_steps)
#define fires_118 (holds_118 && !holds_111 && !holds_112 && !holds_113 && !holds_114 && !holds_115 && !holds_116 && !holds_117)
/* done in closing when out_of_tokens: B-74 */
#define holds_119 ((window == Window_CLOSING) && when_out_of_tokens)
#define fires_119 (holds_119 && !holds_111 && !holds_112 && !holds_113 && !holds_114 && !holds_115 && !holds_116 && !holds_117 && !holds_118)
/* done in closing when always: B-52 */
#define holds_120 ((window == Window_CLOSING) && when_always)
#define fires_120 (holds_120 && !holds_111 && !holds_112 && !holds_113 && !holds_114 && !holds_115 && !holds_116 && !holds_117 && !holds_118 && !holds_119)
/* done in turn-end when stopped: B-121 */
#define holds_121 ((window == Window_TURN_END) && when_stopped)
#define fires_121 (holds_121)
/* done in turn-end when always: B-86 B-122 */
#define holds_122 ((window == Window_TURN_END) && when_always)
#define fires_122 (holds_122 && !holds_121)
/* done in flush when disposed: B-46 */
#define holds_123 ((window == Window_FLUSH) && when_disposed)
#define fires_123 (holds_123)
/* done in flush when running_with_work: A-05 A-13 C-15 */
#define holds_124 ((window == Window_FLUSH) && when_running_with_work)
#define fires_124 (holds_124 && !holds_123)
/* done in flush when replaced: A-52 B-136 */
#define holds_125 ((window == Window_FLUSH) && when_replaced)
#define fires_125 (holds_125 && !holds_123 && !holds_124)
/* done in flush when always: A-31 A-35 B-105 */
#define holds_126 ((window == Window_FLUSH) && when_always)
#define fires_126 (holds_126 && !holds_123 && !holds_124 && !holds_125)
/* failed in flush when disposed: D-53 */
#define holds_127 ((window == Window_FLUSH) && when_disposed)
#define fires_127 (holds_127)
/* failed in flush when running_with_work: B-85 D-53 */
#define holds_128 ((window == Window_FLUSH) && when_running_with_work)
#define fires_128 (holds_128 && !holds_127)
/* failed in flush when replaced: B-85 D-53 */
#define holds_129 ((window == Window_FLUSH) && when_replaced)
#define fires_129 (holds_129 && !holds_127 && !holds_128)
/* failed in flush when always: B-85 D-53 */
#define holds_130 ((window == Window_FLUSH) && when_always)
#define fires_130 (holds_130 && !holds_127 && !holds_128 && !holds_129)

#define SURROUNDINGS \
  :: atomic { fires_0 -> begin(); finish(Input_SEND) } \
  :: atomic { fires_1 -> begin(); window = Window_WOKEN; inbox_queue(); finish(Input_SEND) } \
  :: atomic { fires_2 -> begin(); inbox_queue(); finish(Input_SEND) } \
  :: atomic { fires_3 -> begin(); finish(Input_STEER) } \
  :: atomic { fires_4 -> begin(); inbox_steer(); finish(Input_STEER) } \
  :: atomic { fires_5 -> begin(); window = Window_WOKEN; inbox_queue(); finish(Input_STEER) } \
  :: atomic { fires_6 -> begin(); inbox_queue(); finish(Input_STEER) } \
  :: atomic { fires_7 -> begin(); finish(Input_INJECT) } \
  :: atomic { fires_8 -> begin(); finish(Input_INJECT) } \
  :: atomic { fires_9 -> begin(); finish(Input_INJECT) } \
  :: atomic { fires_10 -> begin(); status_cancel(); marker_arm(); inbox_clear(); finish(Input_CANCEL) } \
  :: atomic { fires_11 -> begin(); inbox_clear(); finish(Input_CANCEL) } \
  :: atomic { fires_12 -> begin(); finish(Input_CANCEL) } \
  :: atomic { fires_13 -> begin(); finish(Input_DISPOSE) } \
  :: atomic { fires_14 -> begin(); window = Window_EXITED; status_end(); finish(Input_DISPOSE) } \
  :: atomic { fires_15 -> begin(); status_end(); inbox_clear(); finish(Input_DISPOSE) } \
  :: atomic { fires_16 -> begin(); status_end(); inbox_clear(); finish(Input_DISPOSE) } \
  :: atomic { fires_17 -> begin(); status_end(); inbox_clear(); finish(Input_DISPOSE) }

#define DRIVER \
  :: atomic { fires_18 -> begin(); window = Window_PROMPTS; finish(Input_DONE) } \
  :: atomic { fires_19 -> begin(); window = Window_CLOSING; finish(Input_DONE) } \
  :: atomic { fires_20 -> begin(); window = Window_CLOSING; finish(Input_FAILED) } \
  :: atomic { fires_21 -> begin(); window = Window_CLOSING; ending = Ending_ERROR; finish(Input_FAILED) } \
  :: atomic { fires_22 -> begin(); window = Window_ASSEMBLY; wants_step = 0; inbox_take(); finish(Input_DONE) } \
  :: atomic { fires_23 -> begin(); window = Window_CLOSING; finish(Input_DONE) } \
  :: atomic { fires_24 -> begin(); window = Window_CLOSING; finish(Input_CUT) } \
  :: atomic { fires_25 -> begin(); window = Window_CLOSING; finish(Input_FAILED) } \
  :: atomic { fires_26 -> begin(); window = Window_CLOSING; ending = Ending_ERROR; finish(Input_FAILED) } \
  :: atomic { fires_27 -> begin(); window = Window_PRE_STEP; finish(Input_DONE) } \
  :: atomic { fires_28 -> begin(); window = Window_CLOSING; finish(Input_DONE) } \
  :: atomic { fires_29 -> begin(); window = Window_CLOSING; finish(Input_CUT) } \
  :: atomic { fires_30 -> begin(); window = Window_CLOSING; finish(Input_FAILED) } \
  :: atomic { fires_31 -> begin(); window = Window_CLOSING; ending = Ending_ERROR; finish(Input_FAILED) } \
  :: atomic { fires_32 -> begin(); window = Window_STEP_START; finish(Input_DONE) } \
  :: atomic { fires_33 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_34 -> begin(); window = Window_STEP_END; finish(Input_FAILED) } \
  :: atomic { fires_35 -> begin(); window = Window_STEP_END; failed = 1; finish(Input_FAILED) } \
  :: atomic { fires_36 -> begin(); window = Window_REQUEST; finish(Input_DONE) } \
  :: atomic { fires_37 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_38 -> begin(); window = Window_STEP_END; finish(Input_CUT) } \
  :: atomic { fires_39 -> begin(); window = Window_STEP_END; finish(Input_FAILED) } \
  :: atomic { fires_40 -> begin(); window = Window_STEP_END; failed = 1; finish(Input_FAILED) } \
  :: atomic { fires_41 -> begin(); window = Window_STREAM; finish(Input_DONE) } \
  :: atomic { fires_42 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_43 -> begin(); window = Window_STEP_END; finish(Input_TRUNCATED) } \
  :: atomic { fires_44 -> begin(); window = Window_STEP_END; finish(Input_CUT) } \
  :: atomic { fires_45 -> begin(); window = Window_STEP_END; finish(Input_FAILED) } \
  :: atomic { fires_46 -> begin(); window = Window_STEP_END; failed = 1; finish(Input_FAILED) } \
  :: atomic { fires_47 -> begin(); window = Window_RESULT; finish(Input_DONE) } \
  :: atomic { fires_48 -> begin(); window = Window_RESULT; ending = Ending_MAX_TOKENS; finish(Input_TRUNCATED) } \
  :: atomic { fires_49 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_50 -> begin(); window = Window_STEP_END; finish(Input_CALLED) } \
  :: atomic { fires_51 -> begin(); window = Window_STEP_END; finish(Input_FAILED) } \
  :: atomic { fires_52 -> begin(); window = Window_STEP_END; failed = 1; finish(Input_FAILED) } \
  :: atomic { fires_53 -> begin(); window = Window_STEP_END; wants_step = 1; inbox_take(); finish(Input_DONE) } \
  :: atomic { fires_54 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_55 -> begin(); window = Window_CHECKPOINT; wants_step = 1; finish(Input_CALLED) } \
  :: atomic { fires_56 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_57 -> begin(); window = Window_STEP_END; finish(Input_CUT) } \
  :: atomic { fires_58 -> begin(); window = Window_STEP_END; finish(Input_FAILED) } \
  :: atomic { fires_59 -> begin(); window = Window_STEP_END; failed = 1; finish(Input_FAILED) } \
  :: atomic { fires_60 -> begin(); window = Window_TOOL_CALL; finish(Input_DONE) } \
  :: atomic { fires_61 -> begin(); window = Window_STEP_END; finish(Input_ALLOWED) } \
  :: atomic { fires_62 -> begin(); window = Window_STEP_END; finish(Input_ANSWERED) } \
  :: atomic { fires_63 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_64 -> begin(); window = Window_STEP_END; finish(Input_CUT) } \
  :: atomic { fires_65 -> begin(); window = Window_STEP_END; finish(Input_FAILED) } \
  :: atomic { fires_66 -> begin(); window = Window_STEP_END; failed = 1; finish(Input_FAILED) } \
  :: atomic { fires_67 -> begin(); window = Window_TOOL_BODY; finish(Input_ALLOWED) } \
  :: atomic { fires_68 -> begin(); window = Window_TOOL_CALL; finish(Input_ANSWERED) } \
  :: atomic { fires_69 -> begin(); window = Window_STEP_END; wants_step = 1; inbox_take(); finish(Input_DONE) } \
  :: atomic { fires_70 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_71 -> begin(); window = Window_STEP_END; finish(Input_ANSWERED) } \
  :: atomic { fires_72 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_73 -> begin(); window = Window_STEP_END; finish(Input_CUT) } \
  :: atomic { fires_74 -> begin(); window = Window_STEP_END; finish(Input_FAILED) } \
  :: atomic { fires_75 -> begin(); window = Window_STEP_END; failed = 1; finish(Input_FAILED) } \
  :: atomic { fires_76 -> begin(); window = Window_TOOL_CALL; finish(Input_ANSWERED) } \
  :: atomic { fires_77 -> begin(); window = Window_STEP_END; wants_step = 1; inbox_take(); finish(Input_DONE) } \
  :: atomic { fires_78 -> begin(); window = Window_STEP_END; finish(Input_DONE) } \
  :: atomic { fires_79 -> begin(); window = Window_EXITED; finish(Input_DONE) } \
  :: atomic { fires_80 -> begin(); window = Window_ANNOUNCE_RUNNING; status_begin(); finish(Input_DONE) } \
  :: atomic { fires_81 -> begin(); window = Window_PARKED; finish(Input_DONE) } \
  :: atomic { fires_82 -> begin(); window = Window_TURN_START; inbox_drain(); finish(Input_DONE) } \
  :: atomic { STILL && fires_83 -> begin(); finish(Input_DONE) } \
  :: atomic { fires_84 -> begin(); window = Window_ANNOUNCE_IDLE; marker_retire(); status_settle(); finish(Input_DONE) } \
  :: atomic { fires_85 -> begin(); window = Window_EXITED; marker_retire(); finish(Input_DONE) } \
  :: atomic { fires_86 -> begin(); window = Window_EXITED; finish(Input_DONE) } \
  :: atomic { fires_87 -> begin(); window = Window_ANNOUNCE_RUNNING; marker_retire(); status_begin(); finish(Input_YIELDED) } \
  :: atomic { fires_88 -> begin(); window = Window_ANNOUNCE_IDLE; marker_retire(); status_settle(); finish(Input_YIELDED) } \
  :: atomic { fires_89 -> begin(); window = Window_EXITED; marker_retire(); finish(Input_YIELDED) } \
  :: atomic { fires_90 -> begin(); window = Window_FLUSH; finish(Input_UNOPENED) } \
  :: atomic { fires_91 -> begin(); window = Window_CLOSING; ending = Ending_REJECTED; finish(Input_BLOCKED) } \
  :: atomic { fires_92 -> begin(); window = Window_CLOSING; ending = Ending_ERROR; inbox_queue(); finish(Input_BROKE_OFF) } \
  :: atomic { fires_93 -> begin(); window = Window_CLOSING; failed = 0; finish(Input_DONE) } \
  :: atomic { fires_94 -> begin(); window = Window_CLOSING; finish(Input_DONE) } \
  :: atomic { fires_95 -> begin(); window = Window_CLOSING; failed = 0; ending = Ending_ERROR; finish(Input_DONE) } \
  :: atomic { fires_96 -> begin(); window = Window_CONTINUATION; finish(Input_DONE) } \
  :: atomic { fires_97 -> begin(); window = Window_CLOSING; finish(Input_CONTINUE) } \
  :: atomic { fires_98 -> begin(); window = Window_CLOSING; finish(Input_STOP) } \
  :: atomic { fires_99 -> begin(); window = Window_CLOSING; finish(Input_EXHAUSTED) } \
  :: atomic { fires_100 -> begin(); window = Window_CLOSING; finish(Input_CUT) } \
  :: atomic { fires_101 -> begin(); window = Window_CLOSING; finish(Input_FAILED) } \
  :: atomic { fires_102 -> begin(); window = Window_CLOSING; ending = Ending_ERROR; finish(Input_FAILED) } \
  :: atomic { fires_103 -> begin(); window = Window_CLOSING; finish(Input_DONE) } \
  :: atomic { fires_104 -> begin(); window = Window_ASSEMBLY; wants_step = 0; inbox_take(); finish(Input_DONE) } \
  :: atomic { fires_105 -> begin(); window = Window_CLOSING; finish(Input_DONE) } \
  :: atomic { fires_106 -> begin(); window = Window_ASSEMBLY; wants_step = 0; inbox_take(); finish(Input_CONTINUE) } \
  :: atomic { fires_107 -> begin(); window = Window_ASSEMBLY; wants_step = 0; inbox_take(); finish(Input_STOP) } \
  :: atomic { fires_108 -> begin(); window = Window_CLOSING; finish(Input_STOP) } \
  :: atomic { fires_109 -> begin(); window = Window_CLOSING; ending = Ending_MAX_STEPS; finish(Input_EXHAUSTED) } \
  :: atomic { fires_110 -> begin(); window = Window_CLOSING; finish(Input_EXHAUSTED) } \
  :: atomic { fires_111 -> begin(); window = Window_TURN_END; ending = Ending_ERROR; wants_step = 0; marker_retire(); finish(Input_DONE) } \
  :: atomic { fires_112 -> begin(); window = Window_TURN_END; ending = Ending_ERROR; wants_step = 0; finish(Input_DONE) } \
  :: atomic { fires_113 -> begin(); window = Window_TURN_END; ending = Ending_DISPOSED; wants_step = 0; marker_retire(); finish(Input_DONE) } \
  :: atomic { fires_114 -> begin(); window = Window_TURN_END; ending = Ending_DISPOSED; wants_step = 0; finish(Input_DONE) } \
  :: atomic { fires_115 -> begin(); window = Window_TURN_END; ending = Ending_REJECTED; wants_step = 0; marker_retire(); finish(Input_DONE) } \
  :: atomic { fires_116 -> begin(); window = Window_TURN_END; ending = Ending_REJECTED; wants_step = 0; finish(Input_DONE) } \
  :: atomic { fires_117 -> begin(); window = Window_TURN_END; ending = Ending_ABORTED; wants_step = 0; marker_retire(); finish(Input_DONE) } \
  :: atomic { fires_118 -> begin(); window = Window_TURN_END; ending = Ending_MAX_STEPS; wants_step = 0; finish(Input_DONE) } \
  :: atomic { fires_119 -> begin(); window = Window_TURN_END; ending = Ending_MAX_TOKENS; wants_step = 0; finish(Input_DONE) } \
  :: atomic { fires_120 -> begin(); window = Window_TURN_END; ending = Ending_COMPLETED; wants_step = 0; finish(Input_DONE) } \
  :: atomic { fires_121 -> begin(); window = Window_FLUSH; ending = Ending_COMPLETED; finish(Input_DONE) } \
  :: atomic { fires_122 -> begin(); window = Window_FLUSH; ending = Ending_COMPLETED; finish(Input_DONE) } \
  :: atomic { fires_123 -> begin(); window = Window_EXITED; finish(Input_DONE) } \
  :: atomic { fires_124 -> begin(); window = Window_ANNOUNCE_RUNNING; inbox_merge(); finish(Input_DONE) } \
  :: atomic { fires_125 -> begin(); window = Window_ANNOUNCE_RUNNING; status_begin(); finish(Input_DONE) } \
  :: atomic { fires_126 -> begin(); window = Window_ANNOUNCE_IDLE; status_settle(); finish(Input_DONE) } \
  :: atomic { fires_127 -> begin(); window = Window_EXITED; finish(Input_FAILED) } \
  :: atomic { fires_128 -> begin(); window = Window_ANNOUNCE_RUNNING; inbox_merge(); finish(Input_FAILED) } \
  :: atomic { fires_129 -> begin(); window = Window_ANNOUNCE_RUNNING; status_begin(); finish(Input_FAILED) } \
  :: atomic { fires_130 -> begin(); window = Window_ANNOUNCE_IDLE; status_settle(); finish(Input_FAILED) }

#ifdef EDGES
active proctype agent() { do SURROUNDINGS DRIVER od }
#else
active proctype surroundings() { do SURROUNDINGS :: last = PAUSE od }
active proctype driver() { do DRIVER od }
#endif

#ifndef EDGES
/* a_cancelled_turn_unwinds */
ltl claim_0 { [] ((((window == Window_ANNOUNCE_RUNNING || window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING) && (status == Status_CANCELLED))) -> <> ((((window == Window_ANNOUNCE_RUNNING) && (status == Status_IDLE || status == Status_RUNNING)) || (window == Window_TURN_END || window == Window_ANNOUNCE_IDLE || window == Window_EXITED)))) }
/* a_cancel_ends_in_idle_or_in_a_replacement */
ltl claim_1 { [] (((status == Status_CANCELLED)) -> <> ((((window == Window_ANNOUNCE_RUNNING) && (status == Status_RUNNING)) || (window == Window_ANNOUNCE_IDLE || window == Window_EXITED)))) }
/* an_open_turn_closes */
ltl claim_2 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE || last == Input_SEND || last == Input_STEER)) -> [] (((window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING)) -> <> ((window == Window_TURN_END || window == Window_FLUSH))) }
/* every_waiter_is_released */
ltl claim_3 { (<> [] !(last == Input_ANSWERED || last == Input_BROKE_OFF || last == Input_CALLED || last == Input_CONTINUE || last == Input_SEND || last == Input_STEER)) -> [] ((true) -> <> ((((window == Window_PARKED) && ((status == Status_IDLE) && (inbox == Inbox_EMPTY))) || (window == Window_EXITED)))) }
/* a_dispose_comes_to_the_exit */
ltl claim_4 { [] (((status == Status_DISPOSED)) -> <> ((window == Window_EXITED))) }
/* what_is_queued_leaves_the_queue */
ltl claim_5 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE || last == Input_SEND || last == Input_STEER)) -> [] (((inbox == Inbox_QUEUED || inbox == Inbox_BOTH)) -> <> ((inbox == Inbox_EMPTY || inbox == Inbox_STEERING))) }
/* what_is_steering_leaves_the_fifo */
ltl claim_6 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE)) -> [] (((inbox == Inbox_STEERING || inbox == Inbox_BOTH)) -> <> ((inbox == Inbox_EMPTY || inbox == Inbox_QUEUED))) }
/* a_cancelled_turn_unwinds, although not the driver is fair */
ltl claim_7 { [] ((((window == Window_ANNOUNCE_RUNNING || window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING) && (status == Status_CANCELLED))) -> <> ((((window == Window_ANNOUNCE_RUNNING) && (status == Status_IDLE || status == Status_RUNNING)) || (window == Window_TURN_END || window == Window_ANNOUNCE_IDLE || window == Window_EXITED)))) }
/* a_cancel_ends_in_idle_or_in_a_replacement, although not the driver is fair */
ltl claim_8 { [] (((status == Status_CANCELLED)) -> <> ((((window == Window_ANNOUNCE_RUNNING) && (status == Status_RUNNING)) || (window == Window_ANNOUNCE_IDLE || window == Window_EXITED)))) }
/* an_open_turn_closes, although not the driver is fair */
ltl claim_9 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE || last == Input_SEND || last == Input_STEER)) -> [] (((window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING)) -> <> ((window == Window_TURN_END || window == Window_FLUSH))) }
/* an_open_turn_closes, although not senders stop */
ltl claim_10 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE)) -> [] (((window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING)) -> <> ((window == Window_TURN_END || window == Window_FLUSH))) }
/* an_open_turn_closes, although not the model stops */
ltl claim_11 { (<> [] !(last == Input_SEND || last == Input_STEER)) -> [] (((window == Window_TURN_START || window == Window_PROMPTS || window == Window_ASSEMBLY || window == Window_PRE_STEP || window == Window_STEP_START || window == Window_REQUEST || window == Window_STREAM || window == Window_RESULT || window == Window_CHECKPOINT || window == Window_TOOL_CALL || window == Window_TOOL_BODY || window == Window_STEP_END || window == Window_CONTINUATION || window == Window_CLOSING)) -> <> ((window == Window_TURN_END || window == Window_FLUSH))) }
/* every_waiter_is_released, although not the driver is fair */
ltl claim_12 { (<> [] !(last == Input_ANSWERED || last == Input_BROKE_OFF || last == Input_CALLED || last == Input_CONTINUE || last == Input_SEND || last == Input_STEER)) -> [] ((true) -> <> ((((window == Window_PARKED) && ((status == Status_IDLE) && (inbox == Inbox_EMPTY))) || (window == Window_EXITED)))) }
/* every_waiter_is_released, although not senders stop */
ltl claim_13 { (<> [] !(last == Input_ANSWERED || last == Input_BROKE_OFF || last == Input_CALLED || last == Input_CONTINUE)) -> [] ((true) -> <> ((((window == Window_PARKED) && ((status == Status_IDLE) && (inbox == Inbox_EMPTY))) || (window == Window_EXITED)))) }
/* every_waiter_is_released, although not the model stops */
ltl claim_14 { (<> [] !(last == Input_BROKE_OFF || last == Input_SEND || last == Input_STEER)) -> [] ((true) -> <> ((((window == Window_PARKED) && ((status == Status_IDLE) && (inbox == Inbox_EMPTY))) || (window == Window_EXITED)))) }
/* every_waiter_is_released, although not prompts are read */
ltl claim_15 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE || last == Input_SEND || last == Input_STEER)) -> [] ((true) -> <> ((((window == Window_PARKED) && ((status == Status_IDLE) && (inbox == Inbox_EMPTY))) || (window == Window_EXITED)))) }
/* a_dispose_comes_to_the_exit, although not the driver is fair */
ltl claim_16 { [] (((status == Status_DISPOSED)) -> <> ((window == Window_EXITED))) }
/* what_is_queued_leaves_the_queue, although not the driver is fair */
ltl claim_17 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE || last == Input_SEND || last == Input_STEER)) -> [] (((inbox == Inbox_QUEUED || inbox == Inbox_BOTH)) -> <> ((inbox == Inbox_EMPTY || inbox == Inbox_STEERING))) }
/* what_is_queued_leaves_the_queue, although not senders stop */
ltl claim_18 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE)) -> [] (((inbox == Inbox_QUEUED || inbox == Inbox_BOTH)) -> <> ((inbox == Inbox_EMPTY || inbox == Inbox_STEERING))) }
/* what_is_queued_leaves_the_queue, although not the model stops */
ltl claim_19 { (<> [] !(last == Input_SEND || last == Input_STEER)) -> [] (((inbox == Inbox_QUEUED || inbox == Inbox_BOTH)) -> <> ((inbox == Inbox_EMPTY || inbox == Inbox_STEERING))) }
/* what_is_steering_leaves_the_fifo, although not the driver is fair */
ltl claim_20 { (<> [] !(last == Input_ANSWERED || last == Input_CALLED || last == Input_CONTINUE)) -> [] (((inbox == Inbox_STEERING || inbox == Inbox_BOTH)) -> <> ((inbox == Inbox_EMPTY || inbox == Inbox_QUEUED))) }
/* what_is_steering_leaves_the_fifo, although not the model stops */
ltl claim_21 { [] (((inbox == Inbox_STEERING || inbox == Inbox_BOTH)) -> <> ((inbox == Inbox_EMPTY || inbox == Inbox_QUEUED))) }
#endif
