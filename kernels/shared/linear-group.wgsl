// Grids are folded into (x, y, 1) with x <= 65535, so a group's place in the list is read back from its id and the grid.
fn linear_group(group: vec3<u32>, grid: vec3<u32>) -> u32 {
  return group.y * grid.x + group.x;
}
