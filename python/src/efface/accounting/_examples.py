"""An example of each kind of case, in the form of a session; the tests run them all."""

EXAMPLES = {
    "gdp-delta": """
        >>> gdp_delta(mu=0.5, epsilon=1.0)
        0.0068295949...
    """,
    "gdp-epsilon": """
        >>> gdp_epsilon(mu=0.5, delta=1e-5)
        1.9930914...
    """,
    "gdp-mu": """
        >>> gdp_mu(epsilon=1.0, delta=1e-5)
        0.26805112...
    """,
    "rdp-epsilon": """
        >>> rdp_epsilon(rho=0.01, delta=1e-5)
        RdpEpsilonResult(mironov=0.68861404..., canonne_kamath_steinke=0.54572554...)
    """,
    "advantage": """
        >>> advantage(q=10.0, epsilon=0.1, delta=1e-5, mu=0.3)
        AdvantageResult(from_deletion_privacy=0.44721359..., from_gdp=0.11923538...,
        from_eps_delta=0.049967875...)
    """,
    "group-privacy": """
        >>> group_privacy(epsilon=1.0, delta=1e-5, k=10)
        GroupPrivacyResult(group_epsilon=10.0, group_delta=0.12818308...,
        single_epsilon_for_group_target=0.1, single_delta_for_group_target=6.1207024...e-07)
    """,
    "group-privacy-noted": """
        >>> group_privacy_noted(epsilon=1.0, delta=1e-5, k=10)
        GroupPrivacyNotedResult(epsilon=0.1, delta=7.8013416...e-10)
    """,
    "compose": """
        >>> compose(
        ...     epsilon=0.2, delta=1e-9, k=3, epsilon_second=0.5, delta_second=1e-6, mu=0.1,
        ...     mu_second=0.3
        ... )
        ComposeResult(epsilon=1.1, delta=1.0037132...e-06, delta_as_noted=1.0061220...e-06,
        delta_as_proven=1.8258320...e-06, mu=0.42426406...)
    """,
    "noisy-gd-gdp": """
        >>> noisy_gd(
        ...     n=10_000, lambda_=0.01, beta=0.25, lipschitz=1.0, eta=3.8, sigma=0.03,
        ...     learning_steps=1000, unlearning_steps=20, group=5, adjacency="remove-fixed",
        ...     delta=1e-5
        ... )
        NoisyGdResult(mu=0.076064969..., epsilon=0.25287845...)
    """,
    "noisy-gd-gdp-sequence": """
        >>> noisy_gd_sequence(
        ...     n=10_000, lambda_=0.01, beta=0.25, lipschitz=1.0, eta=3.8, sigma=0.03,
        ...     learning_steps=1000, adjacency="remove-fixed", requests=[{"delete": ["ann",
        ...     "bob"], "steps": 20}, {"add": ["eve"], "steps": 5}], delta=1e-5
        ... )
        NoisyGdSequenceResult(mu=0.052269254..., epsilon=0.16798541...)
    """,
    "noisy-gd-gdp-schedule": """
        >>> noisy_gd_schedule(
        ...     contraction=[0.9, 0.9, 0.9], shift=[0.1, 0.1, 0.0], noise_std=[1.0, 1.0, 1.0],
        ...     initial_distance=0.0, delta=1e-5
        ... )
        NoisyGdScheduleResult(mu=0.10889069..., epsilon=0.37378782...)
    """,
    "noisy-cgd": """
        >>> noisy_cgd(
        ...     batches=1000, size=1000, lambda_=1e-4, beta=0.3, lipschitz=1.0, eta=4.0,
        ...     sigma=1.4e-3, learning_steps=4000, unlearning_steps=18, group=1,
        ...     adjacency="remove-fixed", delta=1e-6
        ... )
        NoisyCgdResult(mu=0.23480358..., epsilon=0.99134777...)
    """,
    "noisy-cgd-sequence": """
        >>> noisy_cgd_sequence(
        ...     batches=1000, size=1000, lambda_=1e-4, beta=0.3, lipschitz=1.0, eta=4.0,
        ...     sigma=1.4e-3, learning_steps=4000, unlearning_steps=[25, 25], groups=[1, 1],
        ...     adjacency="remove-fixed", delta=1e-6
        ... )
        NoisyCgdSequenceResult(mu=0.29531175..., epsilon=1.2698723...)
    """,
    "bounded-domain": """
        >>> bounded_domain(epsilon=1.0, diameter_over_noise=3.0, steps=8)
        -2.8274117...
    """,
    "bounded-domain-gd": """
        >>> bounded_domain_gd(
        ...     n=10_000, convexity="convex", lambda_=0.01, beta=0.25, lipschitz=1.0, eta=3.8,
        ...     sigma=0.1, radius=1.0, learning_steps=1000, unlearning_steps=20, group=5,
        ...     adjacency="remove-fixed", delta=1e-5
        ... )
        BoundedDomainGdResult(mu=0.022819490..., epsilon=0.067790237...)
    """,
    "dp-sgd": """
        >>> dp_sgd(noise=1.0, rate=0.01, steps=1000, group=1, delta=1e-5)
        1.8282...
    """,
    "dp-sgd-delta": """
        >>> dp_sgd_delta(noise=1.0, rate=0.01, steps=1000, group=1, epsilon=2.0)
        2.66...e-06
    """,
    "dp-sgd-schedule": """
        >>> dp_sgd_schedule(
        ...     noise=[26.74], rate=[4096 / 60_000], steps=[175], group=[8], mu=0.1378,
        ...     delta=1 / 60_000
        ... )
        1.1112...
    """,
    "dp-sgd-noise": """
        >>> dp_sgd_noise(rate=0.01, steps=1000, group=1, epsilon=2.0, delta=1e-5)
        0.959...
    """,
    "dp-sgd-rdp": """
        >>> dp_sgd_rdp(noise=1.0, rate=0.01, steps=1000, group=1, order=8)
        0.89364390...
    """,
    "langevin": """
        >>> langevin(
        ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, sigma=0.03, group=1,
        ...     steps=200, delta=1e-5, target_epsilon=1.0
        ... )
        LangevinResult(epsilon_at_steps=0.42542757..., least_steps_for_target=1)
    """,
    "langevin-sequence": """
        >>> langevin_sequence(
        ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, sigma=0.03, group=1,
        ...     delta=1e-5, target_epsilon=1.0, requests=3
        ... )
        array([  1,   1, 445])
    """,
    "langevin-least-sigma": """
        >>> langevin_least_sigma(
        ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, group=1, steps=200,
        ...     delta=1e-5, target_epsilon=1.0
        ... )
        0.011736924...
    """,
    "langevin-finite": """
        >>> langevin_finite(
        ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, sigma=0.03, group=1,
        ...     learning_steps=1000, steps=200, radius=10.0, delta=1e-5
        ... )
        LangevinFiniteResult(epsilon_against_all_steps=0.42542757...,
        epsilon_against_learning_steps=0.90289988...)
    """,
    "langevin-convex": """
        >>> langevin_convex(
        ...     n=10_000, smoothness=1.0, lipschitz=1.0, eta=1.0, sigma=0.1, group=1,
        ...     radius=0.01, learning_steps=100, steps=50, delta=1e-5
        ... )
        LangevinConvexResult(epsilon_at_learning=0.078307225..., epsilon_at_steps=0.078253455...)
    """,
    "langevin-nonconvex": """
        >>> langevin_nonconvex(
        ...     n=10_000, smoothness=1.0, lipschitz=1.0, eta=1.0, sigma=0.1, group=1,
        ...     radius=0.01, learning_steps=100, steps=50, delta=1e-5
        ... )
        LangevinNonconvexResult(epsilon_at_learning=0.095816028..., epsilon_at_steps=0.095816028...)
    """,
    "chourasia-convex": """
        >>> chourasia_convex(
        ...     lambda_=0.01, eta=1.9, q=20.0, lipschitz=1.0, sigma=0.03, n=10_000,
        ...     epsilon_dd=0.001
        ... )
        473
    """,
    "deletion-rdp": """
        >>> deletion_rdp(
        ...     lambda_=0.01, beta=0.25, eta=1.9, q=2.0, lipschitz=1.0, sigma=0.03, n=10_000,
        ...     steps=500
        ... )
        DeletionRdpResult(epsilon_dd=7.6903957...e-05, epsilon_dd_adaptive=7.6903957...e-05,
        epsilon_dp=0.0088119849..., epsilon_dp_composed=0.021111111...)
    """,
    "deletion-rdp-risk": """
        >>> deletion_rdp_risk(
        ...     lambda_=0.01, beta=0.25, lipschitz=1.0, n=10_000, d=50, eta=1.9, sigma=0.001,
        ...     risk=0.001, steps=500
        ... )
        DeletionRdpRiskResult(after_request=0.052416, after_steps=0.0017534872...)
    """,
    "deletion-rdp-recipe": """
        >>> deletion_rdp_recipe(
        ...     lambda_=0.01, beta=0.25, lipschitz=1.0, n=10_000, d=50, q=2.0, epsilon_dp=1.0,
        ...     epsilon_dd=0.01
        ... )
        DeletionRdpRecipeResult(eta=1.9230769..., sigma=0.0028284271..., start_std=0.028421241...,
        learning_steps=1293, deletion_steps=479, utility_steps=507, excess_risk=0.026)
    """,
    "deletion-rdp-bounded": """
        >>> deletion_rdp_bounded(
        ...     lambda_=0.01, beta=0.25, lipschitz=1.0, loss_bound=1e-4, n=10_000, d=50, q=2.0,
        ...     epsilon_dp=1.0, epsilon_dd=0.01
        ... )
        DeletionRdpBoundedResult(ln_b=2.0773999..., eta=2.8951429...e-08, sigma=0.013876180...,
        learning_steps=332536922877, removal_steps=77591258657)
    """,
    "descent-to-delete": """
        >>> descent_to_delete(
        ...     lipschitz=1.0, strong_convexity=0.01, smoothness=0.26, n=10_000, d=50,
        ...     epsilon=1.0, delta=1e-5, iterations=50, diameter=10.0
        ... )
        DescentToDeleteResult(thm31_sigma=0.0085409725..., thm31_learning_steps=131,
        thm32_min_iterations=94, thm32_sigma_at_min=0.00059917790..., thm32_steps_update_1=131,
        thm32_steps_update_100=134)
    """,
    "descent-regularised": """
        >>> descent_regularised(
        ...     lipschitz=1.0, smoothness=0.25, diameter=10.0, n=10_000, d=50, epsilon=1.0,
        ...     delta=1e-5, iterations=50, m=0.01
        ... )
        DescentRegularisedResult(m_printed=1.0529658...e-05, m_balanced=0.0032449435...,
        m_weak=0.0029125033..., thm34_sigma=0.0093950698..., learning_steps=130,
        weak_sigma=0.15246949..., weak_steps=50)
    """,
    "descent-distributed": """
        >>> descent_distributed(
        ...     lipschitz=1.0, strong_convexity=0.01, smoothness=0.26, n=10_000, d=50,
        ...     epsilon=1.0, delta=1e-5, iterations=50, diameter=10.0, xi=1.2
        ... )
        DescentDistributedResult(sigma=1.1509184...e-11, learning_steps=492,
        update_budget=7312.7756...)
    """,
    "objective-residual": """
        >>> objective_residual(
        ...     third_derivative=0.25, lipschitz=1.0, lambda_=0.01, n=10_000, spectral=60.0,
        ...     step=1e-3, moved_margins=0.05
        ... )
        ObjectiveResidualResult(worst_case=1.0001000..., worst_case_perturbed=1.0001000...,
        from_step=0.0024997500..., data_dependent=0.00075)
    """,
    "objective-budget": """
        >>> objective_budget(sigma=1.0, residual=0.01, epsilon=1.0, delta=1e-5)
        ObjectiveBudgetResult(budget=0.20482180..., sigma_for_residual=0.048822926...,
        claimed_delta=0.0, pure_scale=0.01)
    """,
}
