/**
 * What a request cannot own: fields its endpoint does not write.
 *
 * The object itself leaves out `status`; `/status` leaves out everything else; some endpoints of pods leave in only a few
 * places. A path is field names; `*` stands for any step.
 */
import type { FieldFilter } from '../merge/managers.ts'
import { fieldElement } from '../paths/element.ts'
import type { PathElement } from '../paths/element.ts'
import { FieldSet } from '../paths/field-set.ts'
import type { FieldNode } from '../paths/field-set.ts'

/** Leaves out these fields and everything below them: `excludeFields(['status'])`. */
export function excludeFields(...paths: readonly (readonly string[])[]): FieldFilter {
  const excluded = FieldSet.of(...paths.map((path) => path.map(fieldElement)))
  return (set) => set.recursiveDifference(excluded)
}

/** Leaves in only these fields, what leads to them and what lies below them: `includeFields(['spec', 'containers', '*', 'resources'])`. */
export function includeFields(...paths: readonly (readonly string[])[]): FieldFilter {
  return (set) => include(set, paths)
}

function include(set: FieldSet, paths: readonly (readonly string[])[]): FieldSet {
  const nodes: [PathElement, FieldNode][] = []
  for (const [element, node] of set.nodes()) {
    const rests = paths
      .filter(([step]) => step === '*' || (step !== undefined && fieldElement(step) === element))
      .map((path) => path.slice(1))
    if (rests.length === 0) continue
    const isWhole = rests.some((rest) => rest.length === 0)
    nodes.push([
      element,
      isWhole ? node : { member: node.member, children: node.children && include(node.children, rests) },
    ])
  }
  return FieldSet.fromNodes(nodes)
}
