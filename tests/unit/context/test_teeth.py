"""Every clause about plugins can fail: for each a fault, and the scene that finds it."""

import inspect
from collections.abc import Callable
from typing import Any, Final

import pytest

from statemachine.clauses import clauses
from tests.conformance import context_faults as suite
from tests.unit.context import (
    faults,
    test_effects,
    test_ends,
    test_failing_plugins,
    test_fibers,
    test_hanging,
    test_interceptors,
    test_listeners,
    test_ownership,
    test_services,
    test_threads,
    test_undoing,
)

Plant = Callable[[pytest.MonkeyPatch], None]
Test = Callable[..., None]
Tooth = tuple[Plant, Test] | tuple[Plant, Test, dict[str, Any]]

TEETH: Final[dict[str, Tooth]] = {
    "G-01": (
        faults.anything_is_a_disposer,
        test_effects.test_what_is_no_disposer_is_refused,
        {"gift": 3},
    ),
    "G-02": (
        suite.disposers_first_in_first_out,
        test_effects.test_disposers_of_one_effect_run_last_in_first_out,
    ),
    "G-03": (faults.siblings_first_to_last, test_effects.test_the_last_sibling_begins_first),
    "G-04": (
        suite.a_failed_set_up_is_not_undone,
        test_undoing.test_a_set_up_that_raises_is_undone_before_the_caller_hears_of_it,
    ),
    "G-05": (
        faults.each_call_disposes,
        test_effects.test_a_disposer_runs_once_and_everybody_gets_the_same_end,
    ),
    "G-06": (
        suite.an_unload_waits_for_nobody,
        test_effects.test_an_unloading_fiber_joins_an_end_that_is_under_way,
    ),
    "G-07": (
        faults.nothing_is_adopted,
        test_effects.test_a_yielded_effect_is_a_part_and_a_wrapped_one_a_sibling,
    ),
    "G-08": (
        faults.disposers_are_not_contained,
        test_undoing.test_a_disposer_that_raises_harms_no_sibling,
    ),
    "G-09": (
        suite.a_failing_disposer_breaks_the_chain,
        test_undoing.test_a_disposer_that_raises_does_not_break_the_chain,
    ),
    "G-10": (
        faults.dead_fibers_register,
        test_undoing.test_a_fiber_that_is_gone_registers_nothing,
    ),
    "G-11": (
        faults.nothing_is_missing,
        test_fibers.test_a_plugin_waits_for_every_service_that_it_injects,
    ),
    "G-12": (
        suite.dependents_are_not_told,
        test_fibers.test_a_dependent_unloads_and_loads_again_with_its_service,
    ),
    "G-13": (
        faults.need_is_a_look_up,
        test_services.test_a_departing_service_can_be_read_until_its_dependents_have_unloaded,
    ),
    "G-14": (
        faults.old_contexts_live,
        test_services.test_after_the_unload_the_service_is_refused,
    ),
    "G-15": (
        faults.need_is_a_look_up,
        test_services.test_a_service_that_is_not_injected_is_refused,
    ),
    "G-16": (
        suite.a_loading_provider_is_available,
        test_services.test_a_service_is_there_when_its_provider_is_active,
    ),
    "G-17": (faults.the_root_is_like_others, test_services.test_the_root_needs_no_injection),
    "G-18": (faults.the_last_provider_wins, test_services.test_a_service_is_provided_once),
    "G-19": (
        suite.a_failed_load_is_not_undone,
        test_fibers.test_a_plugin_that_raises_is_undone_and_harms_nobody,
    ),
    "G-20": (
        faults.configurations_are_not_checked,
        test_fibers.test_an_invalid_configuration_fails_the_fiber_before_it_is_applied,
    ),
    "G-21": (
        suite.an_unload_waits_for_nobody,
        test_ends.test_the_end_of_a_fiber_waits_for_all_that_it_had_set_up,
    ),
    "G-22": (
        suite.a_dispose_cuts_into_the_load,
        test_ends.test_a_fiber_disposed_while_it_loads_finishes_the_load_first,
    ),
    "G-23": (
        faults.everybody_is_asked,
        test_interceptors.test_serial_awaits_in_order_until_one_answers,
    ),
    "G-24": (
        faults.one_listener_starves_the_others,
        test_listeners.test_a_raising_listener_is_contained,
    ),
    "G-25": (
        faults.parallel_is_one_after_the_other,
        test_listeners.test_parallel_runs_all_and_gathers_what_failed,
    ),
    "G-26": (
        faults.nobody_may_leave_out_the_rest,
        test_interceptors.test_a_waterfall_is_cut_short_by_a_listener_that_does_not_proceed,
    ),
    "G-27": (suite.nobody_is_silenced, test_listeners.test_a_listener_dies_with_its_fiber),
    "G-28": (
        faults.everybody_stands_behind,
        test_listeners.test_an_announcement_reaches_its_listeners_in_order,
    ),
    "G-29": (
        faults.a_dispatch_sees_newcomers,
        test_listeners.test_a_listener_registered_during_a_dispatch_waits_for_the_next,
    ),
    "G-30": (
        faults.an_extension_is_a_scope_of_the_root,
        test_listeners.test_an_extended_context_is_no_scope,
    ),
    "G-31": (
        faults.an_unload_takes_services_along,
        test_fibers.test_a_reload_leaves_the_services_of_others_alone,
    ),
    "G-32": (faults.get_is_a_demand, test_services.test_looking_up_never_raises),
    "G-33": (
        faults.any_listener_will_do,
        test_listeners.test_a_coroutine_function_is_refused_where_nobody_awaits,
        {"kind": test_listeners.SAID},
    ),
    "G-34": (
        faults.nesting_is_not_counted,
        test_listeners.test_nested_announcements_have_a_limit,
    ),
    "G-35": (
        faults.a_dispose_acts_later,
        test_ends.test_dispose_acts_at_the_call_and_disposes_in_a_task,
    ),
    "G-36": (
        suite.a_restart_keeps_the_old_configuration,
        test_fibers.test_a_restart_applies_the_new_configuration_from_then_on,
    ),
    "G-37": (
        faults.refused_and_unloaded,
        test_fibers.test_a_restart_with_an_invalid_configuration_changes_nothing,
    ),
    "G-38": (
        faults.nobody_is_forgotten,
        test_ownership.test_an_owner_forgets_an_agent_that_has_ended_by_itself,
    ),
    "G-39": (
        faults.old_contexts_live,
        test_fibers.test_an_old_context_stays_dead_after_a_reload,
    ),
    "G-40": (
        faults.a_set_up_is_cut,
        test_undoing.test_an_effect_disposed_while_it_is_set_up_is_undone_afterwards,
    ),
    "G-41": (
        suite.circles_are_waited_for,
        test_ends.test_awaiting_the_own_end_inside_a_disposer_is_refused,
        {"is_child": False},
    ),
    "G-42": (faults.any_thread_will_do, test_ends.test_a_call_from_another_thread_is_refused),
    "G-73": (
        faults.any_thread_will_do,
        test_threads.test_a_dispatch_from_another_thread_is_refused,
    ),
    "G-43": (
        suite.a_disposed_effect_stays_in_the_tree,
        test_effects.test_a_yielded_effect_is_a_part_and_a_wrapped_one_a_sibling,
    ),
    "G-44": (
        faults.failed_for_good,
        test_fibers.test_a_failed_plugin_loads_again_when_restarted,
    ),
    "G-45": (
        faults.unawaited_failures_are_lost,
        test_undoing.test_a_set_up_that_fails_unawaited_fails_the_load,
    ),
    "G-46": (
        faults.proceeding_is_free,
        test_interceptors.test_a_listener_proceeds_once_and_while_it_runs,
    ),
    "G-47": (
        suite.a_cancelled_disposer_ends_the_chain,
        test_undoing.test_a_stranger_cannot_cut_an_end_short,
        {"callbacks": 5},
    ),
    "G-48": (
        suite.a_departing_name_is_free_at_once,
        test_services.test_a_departing_service_can_be_read_until_its_dependents_have_unloaded,
    ),
    "G-49": (
        faults.reports_are_not_joined,
        test_failing_plugins.test_a_plugin_that_raises_while_it_unloads,
        {"scene": "a disposer of a child"},
    ),
    "G-50": (
        faults.nobody_has_a_grace,
        test_hanging.test_a_disposer_that_hangs_is_left_behind,
        {"is_stubborn": False},
    ),
    "G-51": (
        faults.a_load_has_all_the_time,
        test_hanging.test_a_load_that_hangs_ends_once_it_is_not_wanted,
        {"way": "dispose", "is_stubborn": False},
    ),
    "G-52": (
        faults.plugins_are_not_checked,
        test_failing_plugins.test_a_plugin_made_of_something_else_is_refused,
        {"parts": "a list"},
    ),
}
"""Clause to a fault, and to the test that claims the clause and fails under the fault."""


# What a broken context leaves behind is not what is being tested.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("clause", TEETH)
def test_the_scene_of_a_clause_finds_a_fault(
    clause: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """The same scene that holds on the true context fails on the faulty one."""
    plant, test, *given = TEETH[clause]
    chosen: dict[str, Any] = given[0] if given else {}
    wanted = set(inspect.signature(test).parameters) - set(chosen)
    fixtures = {name: request.getfixturevalue(name) for name in wanted}
    plant(monkeypatch)
    with pytest.raises((Exception, pytest.fail.Exception)):
        test(**fixtures, **chosen)


@pytest.mark.parametrize("clause", TEETH)
def test_the_scene_is_marked_with_its_clause(clause: str) -> None:
    """It is a scene that claims to check the clause."""
    marks = getattr(TEETH[clause][1], "pytestmark", [])
    assert clause in {each for mark in marks if mark.name == "clause" for each in mark.args}


def test_every_clause_about_plugins_has_a_tooth() -> None:
    """A new clause needs a fault that breaks it."""
    assert set(TEETH) == {each.id for each in clauses() if each.id.startswith("G-")}
