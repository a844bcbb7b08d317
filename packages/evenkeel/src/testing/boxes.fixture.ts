/**
 * A scenario for tests, as a module: boxes that are put on a shelf in the world outside; and programs, right and wrong ones.
 */
import { defineKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { ProcessContext, Scenario, UserStep } from './scenario.ts'

const Box = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Box',
  spec: { type: 'object', properties: { size: { type: 'integer' } } },
  status: { type: 'object', properties: { stored: { type: 'string' } } },
})
type BoxController = ControllerDeclaration<typeof Box>

class Shelf {
  readonly places = new Map<string, number>()

  put(name: string, size: number): void {
    this.places.set(name, size)
  }

  clear(name: string): void {
    this.places.delete(name)
  }
}

interface Outside {
  readonly shelf: { put(name: string, size: number): Promise<void>; clear(name: string): Promise<void> }
}

const place = { name: 'a', namespace: 'default' }
const steps: readonly UserStep[] = [
  { name: 'creates Box a', run: (user) => user.create(Box, { metadata: place, spec: { size: 1 } }) },
  { name: 'deletes Box a', run: async (user) => user.delete(await user.get(Box, place)) },
]

export const scenario: Omit<Scenario<Outside>, 'controllers'> = {
  name: 'boxes',
  steps,
  outside: () => ({ shelf: new Shelf() as unknown as Outside['shelf'] }),
}

type Program = (process: ProcessContext<Outside>) => readonly ControllerDeclaration[]

function program(make: (process: ProcessContext<Outside>) => Pick<BoxController, 'reconcile' | 'cleanup'>): Program {
  return (process) => [{ for: Box, ...make(process) } as unknown as ControllerDeclaration]
}

/** A right one. */
export const controllers: Program = program(({ outside: { shelf } }) => ({
  async reconcile(box, { status }) {
    await shelf.put(box.metadata.name, box.spec.size ?? 0)
    status.set({ stored: String(box.spec.size) })
  },
  async cleanup(box) {
    await shelf.clear(box.metadata.name)
  },
}))

/** Leaves what it made behind. */
export const leaking: Program = program(({ outside: { shelf } }) => ({
  reconcile: async (box) => {
    await shelf.put(box.metadata.name, box.spec.size ?? 0)
  },
}))

/** Says that something failed, and gives up when it cannot even say that: only two failures in a row show it. */
export const givingUp: Program = program(({ outside: { shelf } }) => ({
  async reconcile(box, { client, status }) {
    try {
      await shelf.put(box.metadata.name, box.spec.size ?? 0)
    } catch (error) {
      try {
        await client.patchStatus(box, { stored: 'late' })
      } catch {
        return
      }
      throw error
    }
    status.set({ stored: String(box.spec.size) })
  },
  async cleanup(box) {
    await shelf.clear(box.metadata.name)
  },
}))
