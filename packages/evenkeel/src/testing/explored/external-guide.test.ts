/**
 * The driver of docs/guides/external.md, with the settings of the guide: the service chooses the ids and answers 404.
 */
import { expect, test } from 'vitest'
import { defineKind, type ObjectOf } from '#api'
import type { ControllerDeclaration } from '#controller'
import { external, type Driver } from '#verbs'
import { explore } from '../explore.ts'
import { formatReport } from '../report/text.ts'
import type { ProcessContext, UserStep } from '../scenario.ts'

const Shape = defineKind({
  group: 'guide.dev',
  version: 'v1',
  kind: 'Shape',
  spec: {
    type: 'object',
    properties: { color: { type: 'string' }, size: { type: 'integer' } },
    required: ['color', 'size'],
  } as const,
  status: { type: 'object', properties: {} } as const,
  reports: ['external'],
})

interface Look {
  readonly color: string
  readonly size: number
}
type Stored = Look & { readonly labels: unknown }

/** The service behind `send` of the guide. */
class Shapes {
  readonly shapes = new Map<string, Stored>()
  #last = 0

  get(id: string): Stored {
    const stored = this.shapes.get(id)
    if (!stored) throw Object.assign(new Error(`GET /${id}: 404`), { status: 404 })
    return stored
  }

  list(): (Stored & { id: string })[] {
    return [...this.shapes].map(([id, stored]) => ({ id, ...stored }))
  }

  post(stored: Stored): string {
    const id = `shape-${++this.#last}`
    this.shapes.set(id, stored)
    return id
  }

  put(id: string, stored: Stored): void {
    this.get(id)
    this.shapes.set(id, stored)
  }

  delete(id: string): void {
    this.get(id)
    this.shapes.delete(id)
  }
}

type Called<T> = {
  [K in keyof T]: T[K] extends (...parameters: infer P) => infer R ? (...parameters: P) => Promise<R> : T[K]
}

function driverOf(service: Called<Shapes>): Driver<ObjectOf<typeof Shape>, Look, Look> {
  const observation = (
    id: string,
    { labels, color, size }: Stored,
  ): { id: string; observed: Look; labels: unknown } => ({
    id,
    observed: { color, size },
    labels,
  })
  return {
    name: 'shapes',
    capabilities: { labels: 'atomicOnCreate' },
    desired: ({ spec: { color, size } }) => ({ color, size }),
    observe: async (id) => observation(id, await service.get(id)),
    create: async (desired, { labels }) => {
      const id = await service.post({ ...desired, labels })
      return observation(id, { ...desired, labels })
    },
    async update(id, desired, { labels }) {
      await service.put(id, { ...desired, labels })
    },
    async remove(id) {
      await service.delete(id)
    },
    async *list() {
      yield (await service.list()).map(({ id, ...stored }) => observation(id, stored))
    },
  }
}

const place = { name: 'foo', namespace: 'default' }
const steps: readonly UserStep[] = [
  {
    name: 'wishes for a red shape',
    run: (user) => user.create(Shape, { metadata: place, spec: { color: 'red', size: 1 } }),
  },
  { name: 'wants it blue', run: async (user) => user.patch(await user.get(Shape, place), { spec: { color: 'blue' } }) },
  { name: 'gives it up', run: async (user) => user.delete(await user.get(Shape, place)) },
]

test('the driver of the guide is silent at tier 1', { timeout: 480_000 }, async () => {
  const result = await explore<{ service: Called<Shapes> }>({
    controllers: ({ external: { service } }: ProcessContext<{ service: Called<Shapes> }>) => [
      { for: Shape, verbs: [external(driverOf(service), { instance: 'team-a' })] } as unknown as ControllerDeclaration,
    ],
    scenario: {
      name: 'shapes of the guide',
      steps,
      external: () => ({ service: new Shapes() as unknown as Called<Shapes> }),
      services: { service: { reads: ['get', 'list'] } },
    },
  })
  expect(result.failures.length, formatReport(result)).toBe(0)
  expect(result.left).toBe(0)
})
