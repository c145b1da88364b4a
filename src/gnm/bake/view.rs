//! Which expression coefficients a pack keeps, and the regions that they fall into.

use crate::error::{LoadError, LoadErrorKind};
use crate::gnm::pack::Region;
use crate::gnm::parts::REDUCED;

/// How many coefficients the reduced view has.
const REDUCED_TOTAL: usize = 64;

/// The kept coefficients.
pub(super) struct View {
    /// Runs of the kept coefficients.
    pub regions: Vec<Region>,
    /// Their indices in the model.
    pub ids: Vec<usize>,
    /// How many the model has.
    pub from: usize,
}

/// The runs that GNM's expression names fall into: `left_eye_region_007` is in `left_eye`, `tongue_mean` in `tongue`.
pub(super) fn regions(names: &[String]) -> Result<Vec<Region>, LoadError> {
    let mut regions: Vec<Region> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        let region = match stem.strip_suffix("_region").unwrap_or(stem) {
            "tongue_mean" => "tongue",
            // As files before 3.0 spell them.
            "mouth" => "lower_face",
            "eyeballs" => "pupils",
            other => other,
        };
        match regions.iter().position(|r| r.name == region) {
            None => regions.push(Region { name: region.into(), count: 1 }),
            Some(i) if i + 1 == regions.len() => regions[i].count += 1,
            Some(_) => {
                let field = format!("expression_names[{at}]");
                let expected = format!("region {region} in one run");
                let found = format!("a second run, \"{name}\"");
                return Err(LoadError::new(LoadErrorKind::Unsupported, field, expected, found));
            }
        }
    }
    Ok(regions)
}

/// The regions of a basis that comes without names: the full layout or the reduced one.
pub(super) fn regions_of_count(count: usize) -> Result<Vec<Region>, LoadError> {
    let counts = match count {
        383 => [100, 100, 150, 32, 1],
        REDUCED_TOTAL => REDUCED.map(|(_, n)| n),
        _ => return Err(LoadError::new(LoadErrorKind::Shape, "basis", "383 or 64 coefficients", count)),
    };
    Ok(REDUCED.iter().zip(counts).map(|((name, _), count)| Region { name: (*name).into(), count }).collect())
}

impl View {
    /// The first coefficients of each region, `keep` together: 64 give the reduced view, other numbers its proportions, at least one per
    /// region, the remainder on the region that the view gives most; what a region does not have goes to the next largest.
    pub fn new(regions: &[Region], keep: Option<usize>) -> Result<View, LoadError> {
        let from: usize = regions.iter().map(|r| r.count).sum();
        let keep = keep.unwrap_or(from);
        let counts = if keep == from { regions.iter().map(|r| r.count).collect() } else { share(regions, keep, from)? };
        let mut view = View { regions: Vec::new(), ids: Vec::new(), from };
        let mut start = 0;
        for (region, count) in regions.iter().zip(counts) {
            view.ids.extend(start..start + count);
            view.regions.push(Region { name: region.name.clone(), count });
            start += region.count;
        }
        Ok(view)
    }
}

fn share(regions: &[Region], keep: usize, from: usize) -> Result<Vec<usize>, LoadError> {
    if keep < regions.len() || keep > from {
        let expected = format!("{} to {from} coefficients", regions.len());
        return Err(LoadError::new(LoadErrorKind::Value, "coefficients to keep", expected, keep));
    }
    let weight = |r: &Region| {
        REDUCED.iter().find(|(name, _)| *name == r.name).map(|(_, n)| *n).ok_or_else(|| {
            let known = REDUCED.map(|(name, _)| name).join(", ");
            LoadError::new(LoadErrorKind::Unsupported, "regions", format!("{known}, to truncate by"), &r.name)
        })
    };
    let weights = regions.iter().map(weight).collect::<Result<Vec<_>, _>>()?;
    let mut counts: Vec<usize> =
        regions.iter().zip(&weights).map(|(r, w)| (keep * w / REDUCED_TOTAL).clamp(1, r.count)).collect();
    let mut by_weight: Vec<usize> = (0..regions.len()).collect();
    by_weight.sort_by_key(|&i| std::cmp::Reverse(weights[i]));
    for i in by_weight {
        let others: usize = counts.iter().sum::<usize>() - counts[i];
        counts[i] = keep.saturating_sub(others).clamp(1, regions[i].count);
        if others + counts[i] == keep {
            break;
        }
    }
    Ok(counts)
}
