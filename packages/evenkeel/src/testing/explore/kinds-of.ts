/**
 * The kinds a scenario needs on its server: those it names, and those its controllers declare.
 */
import { SeededRandom, silentLogger, SimulatedClock } from '#base'
import type { Kind } from '#api'
import { Client } from '#client'
import type { Scenario } from '../scenario/scenario.ts'

/** Asks the program once, on a world that is never run. */
export function kindsOf(scenario: Scenario): Kind[] {
  const clock = new SimulatedClock()
  const client = new Client({
    transport: () => Promise.reject(new Error('nobody is there yet: a factory must not ask anything')),
    clock,
    random: new SeededRandom('kinds'),
  })
  const declarations = callFactory(() =>
    scenario.controllers({
      outside: scenario.outside?.({ clock }) ?? {},
      clock,
      random: new SeededRandom('kinds'),
      log: silentLogger,
      client,
    }),
  )
  const kinds = [
    ...(scenario.kinds ?? []),
    ...declarations.flatMap(({ for: kind, owns = [], watches = [], verbs = [] }) => [
      kind,
      ...owns.map(asKind),
      ...watches.map((watch) => watch.kind as Kind),
      ...verbs.flatMap((verb) => verb.kinds ?? []),
    ]),
  ]
  const byName = new Map(kinds.filter((kind) => isDefined(kind)).map((kind) => [`${kind.group}/${kind.kind}`, kind]))
  return [...byName.values()]
}

/** @throws {RangeError} when the factory throws: then there is nothing to explore. */
function callFactory<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new RangeError(
      `the program cannot be made: its factory throws: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

function asKind(one: object): Kind {
  return ('kind' in one && typeof one.kind === 'object' ? one.kind : one) as Kind
}

/** Built-in kinds are there already. */
function isDefined(kind: Kind): boolean {
  return kind.schema !== undefined
}
