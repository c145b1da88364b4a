//! Which controls of a rig a caller's vector sets: names bound to the GUI or the raw layer of a DNA.

use super::dna::Dna;
use crate::control_names::NameIndex;
use crate::error::{LoadError, LoadErrorKind, one_line};

/// The share of a list of names that must have a control.
const RESOLVED_PERCENT: usize = 80;

/// The field of every error about names.
pub(crate) const NAMES_FIELD: &str = "control names";

/// How many names a message lists before it counts the rest.
const LISTED: usize = 20;

/// The two layers of controls that a host can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ControlLayer {
    /// What an animator's board has, mapped to raw controls by the rig: 174 for a MetaHuman head.
    Gui,
    /// What the rig evaluates, and what ARKit weights are mapped to: about 260 for a MetaHuman head.
    Raw,
}

impl ControlLayer {
    /// The name that messages use: `GUI`, `raw`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ControlLayer::Gui => "GUI",
            ControlLayer::Raw => "raw",
        }
    }

    /// The names of a file's controls of this layer.
    #[must_use]
    pub fn names_of(self, dna: &Dna) -> &[String] {
        match self {
            ControlLayer::Gui => &dna.definition.gui_control_names,
            ControlLayer::Raw => &dna.definition.raw_control_names,
        }
    }
}

/// A caller's controls and where each of them lies in one layer of a rig.
///
/// A name stands for a control in any spelling that [`NameIndex`] reads; a name without a control keeps its place in the caller's vector and
/// sets nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlBinding {
    layer: ControlLayer,
    names: Vec<String>,
    slots: Vec<Option<usize>>,
    layer_len: usize,
}

impl ControlBinding {
    /// All controls of one layer, in the file's order.
    #[must_use]
    pub fn of_layer(dna: &Dna, layer: ControlLayer) -> ControlBinding {
        let names = layer.names_of(dna).to_vec();
        ControlBinding { layer, layer_len: names.len(), slots: (0..names.len()).map(Some).collect(), names }
    }

    /// These controls, in the layer of [`ControlBinding::layer_of_names`].
    ///
    /// Up to a fifth of the names may have no control; one warning in the log names them.
    ///
    /// # Errors
    /// `Missing` - no names, or fewer than four fifths of them have a control in either layer: the message lists those without;
    /// `Corrupt` - two names for one control, or one name twice.
    pub fn of_names(dna: &Dna, names: &[String]) -> Result<ControlBinding, LoadError> {
        let layer = ControlBinding::layer_of_names(dna, names);
        ControlBinding::checked(dna, layer, names, resolve(dna, layer, names), "GUI or raw")
    }

    /// The layer that more of the names belong to; the GUI layer at a tie.
    #[must_use]
    pub fn layer_of_names(dna: &Dna, names: &[String]) -> ControlLayer {
        let [gui, raw] = [ControlLayer::Gui, ControlLayer::Raw].map(|layer| resolved(&resolve(dna, layer, names)));
        if raw > gui { ControlLayer::Raw } else { ControlLayer::Gui }
    }

    /// These controls, in a layer that is given.
    ///
    /// # Errors
    /// As [`ControlBinding::of_names`], for this layer alone.
    pub fn of_names_in(dna: &Dna, layer: ControlLayer, names: &[String]) -> Result<ControlBinding, LoadError> {
        ControlBinding::checked(dna, layer, names, resolve(dna, layer, names), layer.name())
    }

    fn checked(
        dna: &Dna,
        layer: ControlLayer,
        names: &[String],
        slots: Vec<Option<usize>>,
        layers: &str,
    ) -> Result<ControlBinding, LoadError> {
        if names.is_empty() {
            return Err(LoadError::new(LoadErrorKind::Missing, NAMES_FIELD, "at least one name", "none"));
        }
        let binding = ControlBinding { layer, names: names.to_vec(), slots, layer_len: layer.names_of(dna).len() };
        let (found, missing) = (resolved(&binding.slots), binding.unresolved());
        if found * 100 < names.len() * RESOLVED_PERCENT {
            let expected = format!("{layers} controls for at least {RESOLVED_PERCENT} % of {} names", names.len());
            // Twenty names are more than the usual length of a message, and each is needed.
            let found = format!("{found}; none for {}", listed(&missing));
            return Err(LoadError { found, ..LoadError::new(LoadErrorKind::Missing, NAMES_FIELD, expected, "") });
        }
        if let Some((first, second)) = binding.duplicate() {
            let found = format!("\"{}\" and \"{}\"", one_line(first), one_line(second));
            return Err(LoadError::new(LoadErrorKind::Corrupt, NAMES_FIELD, "one name for each control", found));
        }
        if !missing.is_empty() {
            log::warn!("control names: no {} control for {}; these set nothing", layer.name(), listed(&missing));
        }
        Ok(binding)
    }

    /// Two names for one control.
    fn duplicate(&self) -> Option<(&str, &str)> {
        let mut owner = vec![None; self.layer_len];
        for (name, slot) in self.names.iter().zip(&self.slots) {
            let Some(slot) = *slot else { continue };
            if let Some(first) = owner[slot].replace(name.as_str()) {
                return Some((first, name));
            }
        }
        let mut unresolved = self.unresolved();
        unresolved.sort_unstable();
        unresolved.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| (pair[0], pair[1]))
    }

    /// The layer.
    #[must_use]
    pub fn layer(&self) -> ControlLayer {
        self.layer
    }

    /// How many controls the rig has in the layer.
    #[must_use]
    pub fn layer_len(&self) -> usize {
        self.layer_len
    }

    /// (C) The names, in the caller's spelling and order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// (C) Each name's control in the layer.
    #[must_use]
    pub fn slots(&self) -> &[Option<usize>] {
        &self.slots
    }

    /// The names without a control.
    #[must_use]
    pub fn unresolved(&self) -> Vec<&str> {
        let unresolved = self.names.iter().zip(&self.slots).filter(|(_, slot)| slot.is_none());
        unresolved.map(|(name, _)| name.as_str()).collect()
    }

    /// (C) What the controls are before a caller sets any: 0 in the GUI layer, the rig's own values in the raw layer, given as
    /// [`RigLogic::initial_controls`](super::riglogic::RigLogic::initial_controls); 0 for a name without a control.
    ///
    /// # Panics
    /// If `initial` has fewer values than there are raw controls.
    #[must_use]
    pub fn defaults(&self, initial: &[f32]) -> Vec<f32> {
        let default = |slot: &Option<usize>| match (self.layer, slot) {
            (ControlLayer::Raw, Some(slot)) => initial[*slot],
            _ => 0.0,
        };
        self.slots.iter().map(default).collect()
    }

    /// Writes the caller's controls into the values of the layer; what no name stands for keeps the value it has.
    ///
    /// # Shapes
    /// controls: (C), layer_values: ([`ControlBinding::layer_len`])
    ///
    /// # Panics
    /// If either has another length.
    pub fn scatter(&self, controls: &[f32], layer_values: &mut [f32]) {
        let lengths = (controls.len(), layer_values.len());
        assert_eq!(lengths, (self.names.len(), self.layer_len), "controls and values of the layer");
        for (control, slot) in controls.iter().zip(&self.slots) {
            if let Some(slot) = *slot {
                layer_values[slot] = *control;
            }
        }
    }
}

fn resolve(dna: &Dna, layer: ControlLayer, names: &[String]) -> Vec<Option<usize>> {
    let index = NameIndex::new(layer.names_of(dna));
    names.iter().map(|name| index.find(name)).collect()
}

fn resolved(slots: &[Option<usize>]) -> usize {
    slots.iter().flatten().count()
}

fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(LISTED).map(one_line).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        text.push_str(&format!(" and {} more", names.len() - LISTED));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orl::riglogic::{RigLogic, RotationOutput};

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    fn dna(gui: &[&str], raw: &[&str]) -> Dna {
        let mut dna = Dna::default();
        dna.definition.gui_control_names = names(gui);
        dna.definition.raw_control_names = names(raw);
        dna
    }

    fn face() -> Dna {
        dna(
            &["CTRL_C_jaw.ty", "CTRL_C_jaw.tx", "CTRL_L_eye.tx", "CTRL_L_eye.ty", "shared"],
            &["CTRL_expressions.jawOpen", "CTRL_expressions.jawLeft", "CTRL_expressions.eyeBlinkL", "shared"],
        )
    }

    fn refused(result: Result<ControlBinding, LoadError>, kind: LoadErrorKind) -> String {
        let error = result.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        error.to_string()
    }

    #[test]
    fn layer_binds_every_control_in_file_order() {
        let binding = ControlBinding::of_layer(&face(), ControlLayer::Raw);
        assert_eq!(binding.names(), face().definition.raw_control_names);
        assert_eq!(binding.slots(), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!((binding.layer(), binding.layer_len()), (ControlLayer::Raw, 4));
        assert!(binding.unresolved().is_empty());
        // A file may give one name to two controls; by position they stay two.
        let twice = ControlBinding::of_layer(&dna(&["a", "a"], &[]), ControlLayer::Gui);
        assert_eq!(twice.slots(), [Some(0), Some(1)]);
        assert!(ControlBinding::of_layer(&Dna::default(), ControlLayer::Gui).names().is_empty());
    }

    #[test]
    fn names_choose_the_layer_that_has_more_of_them() {
        let cases = [
            (vec!["CTRL_C_jaw.translateX", "CTRL_C_jaw.ty"], ControlLayer::Gui, vec![1, 0]),
            (vec!["ctrl_expressions_jawleft", "CTRL_expressions.jawOpen"], ControlLayer::Raw, vec![1, 0]),
            (vec!["shared"], ControlLayer::Gui, vec![4]),
            (vec!["shared", "CTRL_expressions_eyeBlinkL"], ControlLayer::Raw, vec![3, 2]),
        ];
        for (list, layer, slots) in cases {
            let binding = ControlBinding::of_names(&face(), &names(&list)).unwrap();
            let slots: Vec<_> = slots.into_iter().map(Some).collect();
            assert_eq!((binding.layer(), binding.slots()), (layer, &slots[..]), "{list:?}");
            assert_eq!(binding.names(), names(&list));
        }
    }

    #[test]
    fn names_up_to_a_fifth_may_have_no_control() {
        let list = names(&["CTRL_C_jaw.ty", "gone", "CTRL_C_jaw.tx", "CTRL_L_eye.ty", "CTRL_L_eye.tx"]);
        let binding = ControlBinding::of_names(&face(), &list).unwrap();
        assert_eq!(binding.slots(), [Some(0), None, Some(1), Some(3), Some(2)]);
        assert_eq!(binding.unresolved(), ["gone"]);

        let message = refused(ControlBinding::of_names(&face(), &list[..4]), LoadErrorKind::Missing);
        assert_eq!(
            message,
            "control names: expected GUI or raw controls for at least 80 % of 4 names, got 3; none for gone"
        );
        let message = refused(ControlBinding::of_names_in(&face(), ControlLayer::Raw, &list), LoadErrorKind::Missing);
        assert!(message.contains("expected raw controls for at least 80 % of 5 names, got 0; none for"), "{message}");
        assert!(message.ends_with("CTRL_C_jaw.ty, gone, CTRL_C_jaw.tx, CTRL_L_eye.ty, CTRL_L_eye.tx"), "{message}");
    }

    #[test]
    fn missing_names_beyond_twenty_are_counted() {
        let list: Vec<String> = (0..25).map(|i| format!("a_control_that_no_rig_has_{i}\n")).collect();
        let message = refused(ControlBinding::of_names(&face(), &list), LoadErrorKind::Missing);
        assert!(message.contains("_has_19\u{fffd} and 5 more") && !message.contains("_has_20"), "{message}");
        assert_eq!(message.lines().count(), 1);
        let huge = names(&[&"x".repeat(100_000)]);
        assert!(refused(ControlBinding::of_names(&face(), &huge), LoadErrorKind::Missing).len() < 500);
    }

    #[test]
    fn empty_and_duplicate_names_are_refused() {
        assert_eq!(
            refused(ControlBinding::of_names(&face(), &[]), LoadErrorKind::Missing),
            "control names: expected at least one name, got none"
        );
        let twice = names(&["CTRL_C_jaw.ty", "CTRL_L_eye.tx", "CTRL_C_jaw.translateY"]);
        assert_eq!(
            refused(ControlBinding::of_names(&face(), &twice), LoadErrorKind::Corrupt),
            "control names: expected one name for each control, got \"CTRL_C_jaw.ty\" and \"CTRL_C_jaw.translateY\""
        );
        let gui: Vec<String> = (0..8).map(|i| format!("g{i}")).collect();
        let rig = dna(&gui.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        let twice = [&gui[..], &names(&["gone", "gone"])].concat();
        assert!(
            refused(ControlBinding::of_names(&rig, &twice), LoadErrorKind::Corrupt).contains("\"gone\" and \"gone\"")
        );
    }

    #[test]
    fn scatter_leaves_other_controls_as_they_are() {
        let list = names(&["CTRL_L_eye.tx", "CTRL_C_jaw.ty", "gone", "shared", "CTRL_L_eye.ty"]);
        let binding = ControlBinding::of_names_in(&face(), ControlLayer::Gui, &list).unwrap();
        let mut values = [9.0; 5];
        binding.scatter(&[1.0, 2.0, 3.0, 4.0, 5.0], &mut values);
        assert_eq!(values, [2.0, 9.0, 1.0, 5.0, 4.0]);
        assert_eq!(binding.defaults(&[]), [0.0; 5]);
    }

    #[test]
    #[should_panic(expected = "controls and values of the layer")]
    fn scatter_into_another_layer_panics() {
        ControlBinding::of_layer(&face(), ControlLayer::Gui).scatter(&[0.0; 5], &mut [0.0; 4]);
    }

    #[test]
    fn raw_defaults_are_those_of_the_rig() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/orl/rbf_quat.dna");
        let dna = Dna::read(&std::fs::read(file).unwrap()).unwrap();
        let logic = RigLogic::new(&dna, RotationOutput::Euler).unwrap();
        let binding = ControlBinding::of_layer(&dna, ControlLayer::Raw);
        let defaults = binding.defaults(logic.initial_controls());
        assert_eq!(defaults, logic.initial_controls()[..binding.layer_len()]);
        assert!(defaults.contains(&1.0), "the w of a quaternion starts at 1");
        // In another order the values go with their names.
        let reversed: Vec<String> = binding.names().iter().rev().cloned().collect();
        let reversed = ControlBinding::of_names_in(&dna, ControlLayer::Raw, &reversed).unwrap();
        let expected: Vec<f32> = defaults.iter().rev().copied().collect();
        assert_eq!(reversed.defaults(logic.initial_controls()), expected);
    }
}
