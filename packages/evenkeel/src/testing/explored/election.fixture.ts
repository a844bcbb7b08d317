/**
 * What is explored of our own: the election of a leader, with two processes of a program that does several things in a row.
 */
import { defineKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { ExploreOptions } from '../explore.ts'

const Ship = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Ship',
  spec: { type: 'object', properties: { course: { type: 'integer', minimum: 0, maximum: 359 } } } as const,
  status: { type: 'object', properties: { course: { type: 'integer' } } } as const,
})

/** A helm, and who turned it. */
class Helm {
  readonly courses = new Map<string, number>()

  turn(ship: string, course: number): void {
    this.courses.set(ship, course)
  }

  release(ship: string): void {
    this.courses.delete(ship)
  }
}

interface External {
  readonly helm: { turn(ship: string, course: number): Promise<void>; release(ship: string): Promise<void> }
}

const controller = ({ helm }: External): ControllerDeclaration<typeof Ship> => ({
  for: Ship,
  async reconcile(ship, { signal, status }) {
    signal.throwIfAborted()
    await helm.turn(ship.metadata.name, ship.spec.course ?? 0)
    status.set({ course: ship.spec.course ?? 0 })
  },
  async cleanup(ship, { signal }) {
    signal.throwIfAborted()
    await helm.release(ship.metadata.name)
  },
})

/** The program and the scenario. */
export function electionSubject(): Pick<ExploreOptions<External>, 'controllers' | 'scenario'> {
  const place = { name: 'boat', namespace: 'default' }
  return {
    controllers: ({ external }) => [controller(external) as unknown as ControllerDeclaration],
    scenario: {
      name: 'ships',
      replicas: 2,
      leaderElection: { leaseMs: 15_000 },
      external: () => ({ helm: new Helm() as unknown as External['helm'] }),
      steps: [
        { name: 'launches a boat', run: (user) => user.create(Ship, { metadata: place, spec: { course: 90 } }) },
        {
          name: 'changes its course',
          run: async (user) => user.patch(await user.get(Ship, place), { spec: { course: 180 } }),
        },
      ],
    },
  }
}
