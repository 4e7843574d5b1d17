use super::*;

fn example() -> Figure {
    let panel = Panel::new("left", Axis::log("epsilon"), Axis::linear("accuracy"))
        .with(Series::new("published", 0, vec![(0.1, 0.5), (1.0, 0.7), (10.0, 0.9)]).dashed())
        .with(
            Series::new("tight", 1, vec![(0.1, 0.6), (1.0, 0.8)])
                .spread(vec![(0.1, 0.55, 0.65), (1.0, 0.75, 0.85)]),
        );
    let again = Panel::new("right", Axis::linear("a < b & c"), Axis::log("y")).with(Series::new(
        "tight",
        1,
        vec![(1.0, 1.0), (2.0, 0.0), (3.0, f64::NAN)],
    ));
    Figure::new("A title that says what is shown", vec![panel, again])
}

#[test]
fn a_figure_is_svg_with_every_text_once_where_it_belongs() {
    let svg = example().svg();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for text in ["A title that says what is shown", "published", "left", "right", "accuracy"] {
        assert_eq!(svg.matches(&format!(">{text}<")).count(), 1, "{text}");
    }
    // The legend names a series once, however many panels show it; markup in texts is escaped.
    assert_eq!(svg.matches(">tight<").count(), 1);
    assert!(svg.contains("a &lt; b &amp; c"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn figures_are_the_same_text_each_time() {
    assert_eq!(example().svg(), example().svg());
}

#[test]
fn galleries_show_their_captions() {
    let digit = Picture { caption: "0.12".into(), pixels: vec![0.0, 0.5, 1.0, 0.0] };
    let svg = gallery("Digits", &[("hardest".into(), vec![digit])]);
    assert!(svg.contains("0.12") && svg.contains("hardest"));
}
