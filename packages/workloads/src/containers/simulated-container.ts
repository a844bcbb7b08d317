/**
 * A container as the runtime in memory keeps it, and what that runtime says about it.
 *
 * Invariant: `plan` never changes; what a call changes later (its state, its networks, its log) is beside it.
 */
import type { ContainerFacts, ContainerPlan, ContainerState, Labels, LogPiece } from './container-runtime.ts'

export interface LogEntry {
  readonly stream: LogPiece['stream']
  readonly text: string
  readonly atMs: number
}

export interface SimulatedContainer {
  readonly id: string
  readonly plan: ContainerPlan
  state: ContainerState
  startedAtMs?: number
  finishedAtMs?: number
  exitCode?: number
  isOomKilled: boolean
  ignoresTerm: boolean
  readonly networks: ContainerPlan['networks'][number][]
  readonly log: LogEntry[]
}

export function newContainer(id: string, plan: ContainerPlan): SimulatedContainer {
  return {
    ...{ id, plan, state: 'created', isOomKilled: false, ignoresTerm: false, log: [] },
    networks: [...plan.networks],
  }
}

export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}

export function factsOf(container: SimulatedContainer): ContainerFacts {
  const { id, plan, state, startedAtMs, finishedAtMs, exitCode, isOomKilled, networks } = container
  const { name, labels, image, env, args = [], ports } = plan
  const hasEnded = state === 'exited'
  return {
    ...{ id, name, state, labels, image: `sha256:${image}`, isOomKilled, env, args, ports },
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(hasEnded && finishedAtMs !== undefined && { finishedAtMs }),
    ...(hasEnded && exitCode !== undefined && { exitCode }),
    networks: networks.map((network, index) => ({ name: network.name, address: `10.89.${index}.2` })),
  }
}
