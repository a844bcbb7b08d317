/**
 * An answer to "why?": a question, what is the case, and what to do; each line stands on a fact that can be shown.
 */
import type { KubeObject } from 'evenkeel/api'
import type { EventSummary } from '../objects/events.ts'
import type { OwnerGraph } from '../objects/family.ts'
import type { ManagerReport } from '../objects/manager-report.ts'

export interface WhyAnswer {
  /** `not-ready`, `still-here`, `changed`, `ran` */
  readonly question: string
  /** One sentence. */
  readonly answer: string
  /** Facts behind it, most telling first. */
  readonly because: readonly string[]
  /** What a person could do; none when there is nothing to do. */
  readonly advice: readonly string[]
}

/** Everything that answers are made from; gathered once. */
export interface WhyFacts {
  readonly object: KubeObject
  readonly events: readonly EventSummary[]
  readonly ownerGraph: OwnerGraph
  /** Undefined when no manager could be asked. */
  readonly manager: ManagerReport | undefined
  readonly nowMs: number
}

export function refOf({ kind, metadata: { name = '', namespace } }: Pick<KubeObject, 'kind' | 'metadata'>): string {
  return `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` in ${namespace}`}`
}
