/**
 * A scenario for tests, as a module: boxes are stored on a shelf, an external service. With correct and wrong programs.
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

interface External {
  readonly shelf: { put(name: string, size: number): Promise<void>; clear(name: string): Promise<void> }
}

const place = { name: 'a', namespace: 'default' }
const steps: readonly UserStep[] = [
  { name: 'creates Box a', run: (user) => user.create(Box, { metadata: place, spec: { size: 1 } }) },
  { name: 'deletes Box a', run: async (user) => user.delete(await user.get(Box, place)) },
]

export const scenario: Omit<Scenario<External>, 'controllers'> = {
  name: 'boxes',
  steps,
  external: () => ({ shelf: new Shelf() as unknown as External['shelf'] }),
}

type Program = (process: ProcessContext<External>) => readonly ControllerDeclaration[]

function program(make: (process: ProcessContext<External>) => Pick<BoxController, 'reconcile' | 'cleanup'>): Program {
  return (process) => [{ for: Box, ...make(process) } as unknown as ControllerDeclaration]
}

/** A correct program. */
export const controllers: Program = program(({ external: { shelf } }) => ({
  async reconcile(box, { status }) {
    await shelf.put(box.metadata.name, box.spec.size ?? 0)
    status.set({ stored: String(box.spec.size) })
  },
  async cleanup(box) {
    await shelf.clear(box.metadata.name)
  },
}))

/** Has no cleanup: its places on the shelf remain. */
export const leaking: Program = program(({ external: { shelf } }) => ({
  reconcile: async (box) => {
    await shelf.put(box.metadata.name, box.spec.size ?? 0)
  },
}))

/** Records a failure in the status and gives up when that write fails too: only two faults in a row show it. */
export const givingUp: Program = program(({ external: { shelf } }) => ({
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
