//! Which rows and columns of a joint group are evaluated, and in which order: sums and quaternion products both depend on it.

use crate::orl::dna::JointGroup;

/// The part of a group that is evaluated.
pub(super) struct Part {
    /// Rows of the group in file order, without those that are all zero.
    pub(super) rows: Vec<usize>,
    /// Columns of the group in the order of evaluation, without those that are all zero.
    pub(super) columns: Vec<usize>,
    /// (LODs) How many leading rows and columns are active.
    pub(super) lods: Vec<(u32, u32)>,
}

/// The rows that `takes` accepts with their columns; `None` where nothing is left.
///
/// A level's columns are those with a value in its rows. They come first: from the last place down, a column without a value in the rows of the
/// level is swapped out, level by level. What stands where afterwards is part of the reference's results.
pub(super) fn ordered_columns(group: &JointGroup, takes: impl Fn(usize) -> bool, lod_count: usize) -> Option<Part> {
    let width = group.inputs.len();
    let values = |row: usize| &group.values[row * width..(row + 1) * width];
    let kept = |row: &usize| takes(*row) && values(*row).iter().any(|v| *v != 0.0);
    let rows: Vec<usize> = (0..group.outputs.len()).filter(kept).collect();
    if rows.is_empty() {
        return None;
    }
    // The end of a column: the count of leading rows that it takes to reach a value of it, 0 for a column without any.
    let mut first_value = vec![0; width];
    for (i, &row) in rows.iter().enumerate().rev() {
        for (first, value) in first_value.iter_mut().zip(values(row)) {
            if *value != 0.0 {
                *first = i + 1;
            }
        }
    }
    let mut columns: Vec<usize> = (0..width).filter(|&c| first_value[c] != 0).collect();
    let active_rows = |lod: usize| {
        let all = group.lods.get(lod).map_or(0, |&n| usize::from(n));
        rows.partition_point(|&row| row < all)
    };
    let mut lods = vec![];
    let mut end = columns.len();
    for lod in 0..lod_count {
        let active = active_rows(lod);
        // What a swap brings forward has a value in the rows, so the search never has to look behind it again.
        for c in (0..end).rev() {
            if first_value[columns[c]] > active {
                end -= 1;
                columns.swap(c, end);
            }
        }
        lods.push((active as u32, end as u32));
    }
    Some(Part { rows, columns, lods })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_unused_at_a_level_are_swapped_behind_the_used_ones() {
        // Level 1 has the first row alone: columns 0 and 2 are zero there, column 3 everywhere.
        let group = JointGroup {
            lods: vec![3, 1],
            inputs: vec![10, 11, 12, 13, 14],
            outputs: vec![0, 1, 2],
            values: vec![0., 1., 0., 0., 2., 5., 0., 6., 0., 7., 0., 0., 0., 0., 0.],
            joints: vec![0],
        };
        let part = ordered_columns(&group, |_| true, 2).unwrap();
        // 0 1 2 4: the largest unused is 2, which changes places with 4; then 0, which changes places with 4 again.
        assert_eq!(part.columns, [4, 1, 0, 2]);
        assert_eq!(part.rows, [0, 1]);
        assert_eq!(part.lods, [(2, 4), (1, 2)]);
    }

    #[test]
    fn columns_of_a_level_without_rows_are_none() {
        let group = JointGroup {
            lods: vec![1, 0],
            inputs: vec![0, 1],
            outputs: vec![0],
            values: vec![1., 1.],
            joints: vec![0],
        };
        assert_eq!(ordered_columns(&group, |_| true, 2).unwrap().lods, [(1, 2), (0, 0)]);
        assert!(ordered_columns(&group, |_| false, 2).is_none());
    }
}
