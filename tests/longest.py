"""What takes longest where nothing else runs, and finds what shorter tests beside it find, too: among the long ones.

By file, with the parameters that a test is called with.
"""

LONGEST = {
    "capture/test_capture_models.py": {
        "test_graphs_compute_the_model_on_other_inputs_and_weights[gpt_neox-eager-export]",
        "test_graphs_compute_the_model_on_other_inputs_and_weights[phi3-sdpa-export]",
    },
    "capture/test_woven.py": {
        "test_weights_that_a_rank_does_not_use_are_cleared_in_any_order[one bucket]",
        "test_weights_that_a_rank_does_not_use_are_cleared_in_any_order[views]",
        "test_what_may_come_in_any_order_computes_the_same[back]",
        "test_what_may_come_in_any_order_computes_the_same[middle]",
        "test_what_may_come_in_any_order_computes_the_same[other_column]",
        "test_what_may_come_in_any_order_computes_the_same[other_row]",
    },
    "formula/test_masked_means.py": {
        "test_what_is_another_mean_is_not_proved[the diagonal alone]",
    },
    "formula/test_questions.py": {
        "test_no_false_claim_is_settled[False]",
    },
    "formula/test_quotients_at_once.py": {
        "test_what_is_not_the_same_is_not_proved[<lambda>0]",
    },
    "formula/test_show.py": {
        "test_latex_is_balanced",
        "test_reading_the_text_gives_the_formula_back",
    },
    "fuzz/test_campaign.py": {
        "test_a_campaign_goes_on_where_it_was",
        "test_a_finding_is_run_again_stage_by_stage",
        "test_a_program_of_ones_own",
        "test_a_script_does_not_import_what_lies_beside_it",
    },
    "fuzz/test_fuzz_rules.py": {
        "test_every_rule_is_as_exact_as_its_label_says[exact]",
        "test_every_rule_is_as_exact_as_its_label_says[finite]",
        "test_every_rule_is_as_exact_as_its_label_says[integers]",
        "test_twins_compute_what_their_programs_compute",
    },
    "fuzz/test_oracle.py": {
        "test_reduction_leaves_the_step_that_is_wrong",
    },
    "fuzz/test_programs.py": {
        "test_generated_programs_run_and_are_the_same_again[values]",
        "test_programs_of_values_keep_no_operator_of_which_nothing_can_be_said",
    },
    "fuzz/test_written.py": {
        "test_an_answer_is_kept_and_not_asked_for_again",
        "test_swaps_change_operators_in_forward_alone_and_no_result",
    },
    "lift/test_lift_bits.py": {
        "test_other_bits_and_other_rows_are_not_the_same[banned-banned_in_the_first_rows]",
    },
    "lift/test_lift_broken.py": {
        "test_broken_variant_is_not_verified[argmax-last_of_several]",
        "test_broken_variant_is_not_verified[matmul-missing_other]",
    },
    "lift/test_lift_chosen.py": {
        "test_it_is_verified_and_what_torch_computes[halves-width = 24]",
        "test_what_the_files_inputs_make_are_the_launchs_tensors",
    },
    "lift/test_lift_clock.py": {
        "test_whenever_the_time_ends_it_is_said[softmax-parts0]",
    },
    "lift/test_lift_composed.py": {
        "test_it_is_not_what_it_is_not[groups_overlapping]",
        "test_it_is_not_what_it_is_not[squares_with_gaps]",
    },
    "lift/test_lift_contact.py": {
        "test_it_is_not_what_it_is_not[quantized_not_low_enough-quantized]",
    },
    "lift/test_lift_contracts.py": {
        "test_sizes_are_even_where_that_is_stated",
    },
    "lift/test_lift_decays.py": {
        "test_it_is_not_the_same_as_something_else[average]",
        "test_it_is_not_the_same_as_something_else[chunks]",
        "test_it_is_not_the_same_as_something_else[margin]",
        "test_it_is_not_the_same_as_something_else[retention]",
        "test_it_is_verified_and_the_same[average]",
        "test_it_is_verified_and_the_same[retention]",
        "test_what_decides_which_labels_there_are_is_said",
    },
    "lift/test_lift_descriptors.py": {
        "test_what_is_wrong_is_not_accepted[scaled_unaligned]",
    },
    "lift/test_lift_divided.py": {
        "test_heads_that_share_a_key_are_told_where_groups_are_even",
    },
    "lift/test_lift_divisions.py": {
        "test_what_is_added_to_nothing_is_not_verified",
    },
    "lift/test_lift_edges.py": {
        "test_a_kernel_is_the_same_as_its_reference[slope]",
        "test_a_kernel_is_the_same_as_its_reference[turned]",
        "test_a_row_may_fill_more_pages_than_there_are",
        "test_its_twin_is_not[flagged-flagged_or_nothing]",
        "test_its_twin_is_not[slope_from_one-slope]",
        "test_its_twin_is_not[turned-turned_back]",
        "test_lanes_beside_a_row_are_no_numbers_where_the_row_has_nothing",
        "test_rows_fill_as_many_pages_as_there_are_and_something_of_one",
    },
    "lift/test_lift_groups.py": {
        "test_a_run_over_several_dimensions_is_its_programs_own[normed-reference]",
        "test_a_spread_with_what_lies_beyond_the_run_is_another_one",
    },
    "lift/test_lift_late_maximum.py": {
        "test_nothing_is_verified_where_a_hidden_tile_may_count[kept]",
    },
    "lift/test_lift_masked_rows.py": {
        "test_other_rows_are_others[launch_without_the_first-gated]",
    },
    "lift/test_lift_messages.py": {
        "test_a_reader_that_leaves_is_no_failure",
    },
    "lift/test_lift_more.py": {
        "test_it_is_not_what_it_is_not[grows_from_nothing]",
        "test_it_is_not_what_it_is_not[scaled_from_infinity]",
        "test_pages_have_a_formula",
        "test_what_is_no_number_is_not_proved",
    },
    "lift/test_lift_packed.py": {
        "test_it_is_not_what_it_is_not[slots-cached_in_turned_blocks]",
        "test_it_is_verified_and_what_torch_computes[slots-cached-0 \\u2264 slots[\\u2026] < block\\xb7blocks]",
    },
    "lift/test_lift_padding.py": {
        "test_lanes_that_are_not_masked_differ_with_a_case[group_norm]",
        "test_lanes_that_are_not_masked_differ_with_a_case[layer_norm]",
    },
    "lift/test_lift_paged_slots.py": {
        "test_another_row_is_not_that_one[padded-in_the_first]",
        "test_padding_goes_to_a_row_that_is_cut_off[bytes-behind]",
        "test_padding_goes_to_a_row_that_is_cut_off[padded-copied]",
    },
    "lift/test_lift_parts.py": {
        "test_what_is_put_together_wrongly_is_refused[above_two]",
        "test_what_is_put_together_wrongly_is_refused[by_halves]",
        "test_what_is_put_together_wrongly_is_refused[half]",
        "test_what_is_put_together_wrongly_is_refused[inside]",
    },
    "lift/test_lift_ragged.py": {
        "test_rows_longer_than_the_host_reads_from_the_starts_are_no_difference",
    },
    "lift/test_lift_random_branches.py": {
        "test_it_is_verified_and_is_what_the_interpreter_stores[3]",
        "test_it_is_verified_and_is_what_the_interpreter_stores[4]",
    },
    "lift/test_lift_ranked.py": {
        "test_it_is_not_what_it_is_not[gates-gated_by_what_was_chosen]",
        "test_it_is_not_what_it_is_not[three-top_three_turned]",
        "test_it_is_verified_and_what_torch_computes[three-top_three]",
    },
    "lift/test_lift_read.py": {
        "test_a_contract_on_what_is_read_is_the_users",
        "test_what_is_read_is_a_size[padded_item]",
        "test_what_is_read_twice_is_said_once",
        "test_what_is_wrong_at_the_number_that_is_read_is_violated[padded_short]",
    },
    "lift/test_lift_refuted.py": {
        "test_a_right_kernel_is_not_refuted",
        "test_a_wrong_kernel_is_violated_with_a_case[launch_decay]",
    },
    "lift/test_lift_rows_of_pairs.py": {
        "test_pairs_that_are_not_turned_so_are_other_ones[first]",
        "test_pairs_that_are_not_turned_so_are_other_ones[short]",
    },
    "lift/test_lift_safe_maximum.py": {
        "test_another_maximum_is_no_such_guard",
        "test_zero_for_no_maximum_yet[equal]",
    },
    "lift/test_lift_served.py": {
        "test_it_is_not_what_it_is_not[put_at_places-place_doubled]",
        "test_it_is_not_what_it_is_not[take_next-taken_next_but_first]",
    },
    "lift/test_lift_shifted.py": {
        "test_it_is_not_the_same_as_something_else[unshifted-gated]",
        "test_the_formula_is_what_the_interpreter_stores[stepped-sizes3]",
        "test_what_is_scaled_by_another_power_in_each_step_is_no_sum",
    },
    "lift/test_lift_sizes_written.py": {
        "test_rows_that_programs_share",
        "test_shifts_by_a_row_of_shifts",
        "test_sizes_of_given_tensors_are_so_many_of_one_another",
    },
    "lift/test_lift_slices.py": {
        "test_a_part_is_not_the_whole[beside_a_gap]",
    },
    "lift/test_lift_split_decoding.py": {
        "test_nothing_is_verified_where_nothing_leaves_no_number[unguarded]",
        "test_other_merges_differ[unscaled]",
        "test_splits_are_merged[lse]",
    },
    "lift/test_lift_strangers.py": {
        "test_it_is_not_what_it_is_not[scaled-scaled_by_another]",
        "test_it_is_verified_and_what_torch_computes[put-put]",
    },
    "lift/test_lift_strided.py": {
        "test_with_another_padding_they_are_not[convolution_without_padding-convolution]",
        "test_with_another_padding_they_are_not[greatest_and_zero-greatest]",
    },
    "lift/test_lift_turns.py": {
        "test_it_is_verified_and_the_formula_knows_of_no_tiles[inner]",
    },
    "lift/test_lift_written.py": {
        "test_the_written_length_is_a_need_and_other_sizes_are_free[pairs]",
        "test_the_written_length_is_a_need_and_other_sizes_are_free[window]",
    },
    "onnx/test_onnx_files.py": {
        "test_importing_samesame_does_not_import_onnx",
    },
    "onnx/test_onnx_recurrent.py": {
        "test_an_export_is_proved_and_a_wrong_setting_is_found[LSTM]",
    },
    "operators/test_gradients_of_layers.py": {
        "test_a_mistake_in_one_gradient_is_that_ones[WrongPadding-0]",
        "test_a_mistake_in_one_gradient_is_that_ones[WrongStride-1]",
        "test_gradients_of_a_network_are_proved[Columns]",
        "test_the_gradient_of_a_layer_by_hand_is_proved[reflect]",
    },
    "operators/test_powers.py": {
        "test_powers_of_a_sigmoid_are_a_moving_average",
        "test_whole_powers_of_any_number_are_a_decay[<lambda>1]",
        "test_whole_powers_of_any_number_are_a_decay[<lambda>2]",
    },
    "operators/test_provisos.py": {
        "test_a_row_that_a_mask_hides_is_spoken_of_however_the_mask_is_made[a piece of what is left]",
        "test_a_row_that_a_mask_hides_is_spoken_of_however_the_mask_is_made[of numbers]",
        "test_a_row_that_a_mask_hides_is_spoken_of_however_the_mask_is_made[what is left in a piece]",
        "test_a_row_that_a_mask_hides_is_spoken_of_however_the_mask_is_made[what is left]",
    },
    "optimize/test_differentiated.py": {
        "test_it_takes_the_place_where_gradients_are_on",
    },
    "optimize/test_lookups.py": {
        "test_kernels_look_up_what_torch_does_and_raise_its_errors[experts]",
        "test_kernels_look_up_what_torch_does_and_raise_its_errors[paged]",
        "test_kernels_look_up_what_torch_does_and_raise_its_errors[routed]",
        "test_what_is_looked_up_is_multiplied_where_it_lies[experts]",
        "test_what_is_said_of_them_is_proved[experts]",
        "test_what_is_said_of_them_is_proved[paged]",
        "test_what_is_said_of_them_is_proved[words]",
    },
    "optimize/test_native.py": {
        "test_heads_of_two_projections_are_as_many",
        "test_what_is_read_whole_and_in_parts_is_kept_and_not_computed_again",
    },
    "optimize/test_schedules.py": {
        "test_every_map_is_proved[gated_mlp]",
        "test_every_map_is_proved[low_rank]",
    },
    "optimize/test_segments.py": {
        "test_what_is_said_of_them_is_proved[Joined]",
        "test_what_is_said_of_them_is_proved[Largest]",
        "test_what_is_said_of_them_is_proved[Masked]",
        "test_what_is_said_of_them_is_proved[Normed]",
        "test_what_is_said_of_them_is_proved[Twice]",
    },
    "optimize/test_wholes.py": {
        "test_a_whole_is_computed_once[cells around a torus]",
    },
    "pairs/test_replayed.py": {
        "test_what_is_proved_is_replayed[einsum bij,kj->bki]",
        "test_what_is_proved_is_replayed[experts masked and gathered]",
    },
    "pairs/test_verdicts.py": {
        "test_pair_is_proved_the_same[fused qkv]",
        "test_twin_is_different[tokens by nonzero, added in place-first slot]",
    },
    "promises/test_folds.py": {
        "test_a_fold_is_the_same_or_left_open_and_with_a_mistake_it_is_different[Transposed]",
    },
    "promises/test_hiding.py": {
        "test_a_program_that_ends_the_process_is_no_verdict[a crash]",
        "test_a_program_that_ends_the_process_is_no_verdict[sys.exit]",
        "test_what_a_program_prints_is_no_part_of_the_result",
        "test_what_hides_nothing_is_proved[KeepsALog]",
    },
    "promises/test_named_numbers.py": {
        "test_the_gradient_of_a_loss_asks_for_no_number_that_the_loss_does_not",
    },
    "promises/test_size_regions.py": {
        "test_causal_attention_is_the_same_for_every_size",
    },
    "promises/test_state_cli.py": {
        "test_json_has_the_differences",
    },
    "promises/test_training.py": {
        "test_a_batch_norm_in_training_mode_is_differentiated",
        "test_same_steps[momentum by hand]",
        "test_sizes_are_followed_through_both_calls",
    },
    "promises/test_unseen.py": {
        "test_no_verdict_on_a_job_is_false[sixth_35_sync_batchnorm]",
        "test_no_verdict_on_a_kernel_is_false[eighth_more_16_gae]",
        "test_no_verdict_on_a_kernel_is_false[fifth_10_reversible_dropout]",
        "test_no_verdict_on_a_kernel_is_false[fourth_02_scaled_masked_softmax]",
        "test_no_verdict_on_a_pair_in_files_of_its_own_is_false[eighth_01_palm_parallel_fused]",
        "test_no_verdict_on_a_pair_in_files_of_its_own_is_false[twentysecond_10_gae]",
        "test_no_verdict_on_a_pair_is_false[sizes-sliding_window_16_forgotten]",
        "test_no_verdict_on_a_pair_is_false[state-out_argument_or_fresh]",
    },
    "promises/test_weights.py": {
        "test_a_fresh_llama_and_its_fused_port[False]",
    },
    "promises/test_wrong_laws.py": {
        "test_a_wrong_law_is_not_proved_in_a_random_program[clamp's limits commute-0]",
        "test_a_wrong_law_is_not_proved_in_a_random_program[fmod is remainder-0]",
        "test_a_wrong_law_is_not_proved_in_a_random_program[heaviside is > 0-0]",
    },
    "refine/test_asked.py": {
        "test_a_part_that_is_lost_on_the_way_is_found",
        "test_an_answer_that_data_decide_is_refused[<lambda>0]",
        "test_an_answer_that_is_the_same_on_all_data_is_a_condition",
        "test_who_waits_for_an_answer_that_never_comes_waits_for_ever",
    },
    "refine/test_assert_refines.py": {
        "test_a_reduction_refines_also_where_the_last_piece_is_smaller[2]",
        "test_a_reduction_refines_also_where_the_last_piece_is_smaller[4]",
    },
    "refine/test_captured_cases.py": {
        "test_what_is_proved_for_no_symbol_is_proved_at_the_captured_sizes",
        "test_what_refines_is_proved_of_the_captured_program[aws_llama-reshape.149-shard(0)]",
        "test_what_refines_is_proved_of_the_captured_program[gpt-div_2-replicated]",
        "test_what_refines_is_proved_of_the_captured_program[qwen2-getitem_34-replicated]",
    },
    "refine/test_comm_hooks.py": {
        "test_memory_that_hooks_of_several_buckets_share_is_under_way[False-refines]",
        "test_what_a_hook_does_is_compared[divided_by_its_callback-None-refines]",
        "test_what_a_hook_does_is_compared[gradient_by_gradient-2-refines]",
        "test_what_a_hook_does_is_compared[in_double-None-refines]",
    },
    "refine/test_futures_together.py": {
        "test_who_waits_for_all_waits_for_each[collected-refines]",
    },
    "refine/test_handed_on.py": {
        "test_a_gru_of_two_layers_handed_on[True-refines]",
    },
    "refine/test_norms_by_hand.py": {
        "test_moments_of_strips_make_a_group_norm[merged]",
    },
    "refine/test_put_together.py": {
        "test_a_step_on_flat_shards_is_a_step_on_the_weights",
        "test_a_step_that_misses_a_part_is_none[a part]",
    },
    "refine/test_refine.py": {
        "test_a_missing_reduction_is_named_and_mended",
        "test_correct_jobs_refine_and_planted_mistakes_do_not[accumulation-None]",
        "test_each_stage_has_the_gradients_of_its_own_weights",
    },
    "refine/test_single_numbers.py": {
        "test_a_weight_of_one_number_without_an_equal_needs_no_name[1]",
        "test_moments_that_are_merged_part_by_part[1.0-refines]",
    },
    "refine/test_synchronised_norm.py": {
        "test_a_running_variance_that_is_not_corrected_fails",
        "test_statistics_are_those_of_the_whole_batch",
    },
    "refine/test_training_steps.py": {
        "test_a_layer_sharded_inside_a_sharded_model_steps_as_the_whole_one",
        "test_gradients_that_a_program_leaves_are_compared",
        "test_weights_that_no_rank_uses_are_left_as_they_were",
    },
    "relate/test_assumed.py": {
        "test_it_is_said_in_the_names_of_inputs[inputs]",
    },
    "relate/test_candidates.py": {
        "test_what_is_put_together_is_a_tensor_that_is_moved[True-shuffled]",
    },
    "relate/test_channels.py": {
        "test_what_is_stored_is_read_by_its_channels[a window]",
    },
    "relate/test_chosen_experts.py": {
        "test_other_experts_and_other_shares_differ",
        "test_slots_with_a_capacity_meet_a_loop_over_experts",
    },
    "relate/test_counted_episodes.py": {
        "test_other_sums_are_told_apart[program1]",
    },
    "relate/test_finite_masks.py": {
        "test_what_masks_put_in_is_minus_infinity_under_a_condition_that_the_headline_names[<lambda>-<lambda>-kept0]",
        "test_what_masks_put_in_is_minus_infinity_under_a_condition_that_the_headline_names[<lambda>-<lambda>-kept2]",
    },
    "relate/test_halves.py": {
        "test_pairs_and_halves_are_the_same_with_weights_in_that_order[Halves]",
        "test_weights_in_another_order_or_turned_back_are_not[moved2--1]",
    },
    "relate/test_hidden_rows.py": {
        "test_that_a_row_is_hidden_whole_is_in_the_headline_where_one_program_asks_for_it[float]",
        "test_that_a_row_is_hidden_whole_is_in_the_headline_where_one_program_asks_for_it[int]",
    },
    "relate/test_induction.py": {
        "test_a_loop_is_proved_for_every_length[backwards-turned]",
        "test_a_loop_is_proved_for_every_length[decay_of_its_start-decay]",
        "test_nothing_is_taken_for_granted_of_what_a_round_is_given[counted_down-counted_around-other0]",
    },
    "relate/test_of_a_sign.py": {
        "test_it_is_the_same_of_positive_tensors[a rectifier]",
    },
    "relate/test_relating.py": {
        "test_a_gradient_goes_through_relu_by_what_comes_in_or_by_what_comes_out[<lambda>1]",
        "test_a_gradient_that_goes_through_elsewhere_is_another[<lambda>-undecided]",
        "test_a_wrong_layer_and_all_above_it_stay_unrelated[2]",
    },
    "relate/test_scans.py": {
        "test_a_step_that_decays_at_once_or_is_left_out_is_a_difference[0--1]",
        "test_steps_and_their_decays_are_the_same[5]",
        "test_steps_and_their_decays_are_the_same[7]",
    },
    "relate/test_table_pieces.py": {
        "test_a_table_that_says_every_number_twice_is_the_one_that_says_it_once",
    },
    "relate/test_tables.py": {
        "test_a_table_is_also_what_it_was_made_of",
    },
    "relate/test_tabulated.py": {
        "test_a_cache_that_grows_is_one_that_fills_a_buffer",
    },
    "relate/test_weights_worked_out.py": {
        "test_products_of_matrices_are_kept_in_one_tensor[selected]",
    },
    "relate/test_wider.py": {
        "test_a_clip_beyond_the_example",
        "test_a_clip_beyond_what_new_weights_make[1000000.0-undecided]",
    },
    "relate/test_zero_outputs.py": {
        "test_the_gradient_of_what_a_norm_takes_out",
    },
    "report/test_html.py": {
        "test_a_page_does_not_grow_with_the_number_of_layers",
    },
    "store/test_store_damage.py": {
        "test_one_flipped_bit",
    },
    "suite/test_suite_run.py": {
        "test_a_change_of_what_it_read_is_seen[a module it found missing]",
        "test_a_suite_is_pasted_with_a_row_for_each_entry",
        "test_an_unchanged_entry_is_free",
        "test_each_entry_leads_to_its_report_as_its_verb_draws_it",
    },
    "sweep/test_sweep_models.py": {
        "test_a_bias_that_vllm_drops_is_found_with_its_line",
    },
    "sweep/test_sweep_verb.py": {
        "test_a_sweep_is_pasted_with_a_row_for_each_probe",
    },
    "test_bad_input.py": {
        "test_export_refuses_in_one_sentence_too",
    },
    "test_budgets.py": {
        "test_a_limit_that_is_not_reached_changes_nothing",
        "test_a_second_interrupt_does_not_wait",
        "test_an_interrupt_while_proving_leaves_what_was_proved[0.0]",
        "test_what_was_reached_stays",
    },
    "test_check.py": {
        "test_every_way_of_capture_decides[export+decompose]",
    },
    "test_cli.py": {
        "test_ctrl_c_exits_with_130",
    },
    "test_diagnose.py": {
        "test_a_planted_error_is_told_and_the_first_edit_names_it[fused: keys and values swapped]",
        "test_a_planted_error_is_told_and_the_first_edit_names_it[llama: sign of the rotation]",
        "test_without_an_error_they_are_the_same[1]",
    },
    "test_examples.py": {
        "test_a_training_step_by_hand_is_the_one_of_torch",
    },
    "test_ranks.py": {
        "test_local_weights_are_the_parts_of_the_whole_that_their_placements_say",
        "test_placements_as_runs_of_indices[{'dp': 2, 'tp': 4}-[Replicate(), Shard(dim=1)]]",
    },
    "test_ranks_jobs.py": {
        "test_a_planted_fault_shows[pipeline_stages-not_divided_by_micro_batches]",
    },
    "test_same_models.py": {
        "test_eager_and_sdpa_attention_are_proved_the_same[llama]",
        "test_the_exported_and_decomposed_model_is_proved_the_same[olmo2-eager]",
    },
    "test_testing.py": {
        "test_the_package_exports_functions_whatever_was_imported_first",
    },
    "test_triton_models.py": {
        "test_a_kernel_is_the_reference_for_every_number_of_rows",
    },
    "test_visible.py": {
        "test_the_name_of_a_module",
        "test_the_name_of_an_entry_and_of_what_is_refused",
    },
    "test_vllm_bugs.py": {
        "test_a_mistake_of_old_is_told[local layers get the global rope config]",
    },
    "test_vllm_check.py": {
        "test_a_change_of_the_last_scaling_alone_is_found[cohere-logit_scale-0.3]",
    },
    "test_vllm_compiled.py": {
        "test_the_compiled_graph_is_the_same_as_the_modules",
    },
    "test_vllm_same.py": {
        "test_vllm_is_proved_the_same_but_for_its_kernels[phi3]",
    },
    "test_world.py": {
        "test_all_reduce[3-avg]",
        "test_all_reduce[3-max]",
        "test_all_reduce[3-min]",
        "test_all_reduce[3-product]",
        "test_all_to_all_with_uneven_splits[two]",
    },
}
