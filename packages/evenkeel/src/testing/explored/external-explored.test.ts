/**
 * The verb in every schedule with a single fault: crashes, lost answers, stale looks, other writers, deletions.
 */
import { expect, test } from 'vitest'
import type { ControllerDeclaration } from '#controller'
import { dependsOn, external, ExternalError, type Capabilities, type Driver, type OwnershipLabels } from '#verbs'
import type { ProfileName } from '../deviation.ts'
import { explore } from '../explore.ts'
import { formatReport } from '../report/text.ts'
import type { ProcessContext, Scenario, UserStep } from '../scenario.ts'
import { Secret } from './children.fixture.ts'
import { Shape, capabilitySets, type ShapeBody, type ShapeObject } from './shapes.fixture.ts'

/** Shapes as a service of the world outside: plain data in and out. */
class Cloud {
  readonly shapes = new Map<string, ShapeBody & { labels?: OwnershipLabels | undefined }>()
  readonly _tokens = new Map<string, string>()
  _last = 0

  get(id: string): (ShapeBody & { labels?: OwnershipLabels | undefined }) | undefined {
    return this.shapes.get(id)
  }

  list(): { id: string; color: string; size: number; labels?: OwnershipLabels | undefined }[] {
    return [...this.shapes].map(([id, shape]) => ({ id, ...shape }))
  }

  make(
    body: ShapeBody,
    given: { id?: string | undefined; labels?: OwnershipLabels | undefined; token?: string | undefined },
  ): string {
    const known = given.token === undefined ? undefined : this._tokens.get(given.token)
    if (known !== undefined) return known
    const id = given.id ?? `shape-${++this._last}`
    if (this.shapes.has(id)) throw new ExternalError(`${id} exists`, { status: 409 })
    this.shapes.set(id, { ...body, labels: given.labels })
    if (given.token !== undefined) this._tokens.set(given.token, id)
    return id
  }

  change(id: string, body: ShapeBody, labels: OwnershipLabels | undefined): void {
    if (!this.shapes.has(id)) throw new ExternalError(`no shape ${id}`, { status: 404 })
    this.shapes.set(id, { ...body, labels })
  }

  remove(id: string): void {
    this.shapes.delete(id)
  }
}

type Called<T> = {
  [K in keyof T]: T[K] extends (...parameters: infer P) => infer R ? (...parameters: P) => Promise<R> : T[K]
}
type CloudClient = Called<Cloud>

function driverOf(cloud: CloudClient, capabilities: Capabilities): Driver<ShapeObject, ShapeBody, ShapeBody> {
  const hasLabels = capabilities.labels === 'atomicOnCreate'
  return {
    name: 'shapes',
    capabilities,
    desired: ({ spec: { color = 'red', size = 1 } }) => ({ color, size }),
    observe: async (id) => {
      const shape = await cloud.get(id)
      return shape && { id, observed: { color: shape.color, size: shape.size }, labels: shape.labels }
    },
    create: async (desired, { id, labels, idempotencyKey }) => ({
      id: await cloud.make(desired, {
        id,
        ...(hasLabels && { labels }),
        ...(capabilities.idempotent === 'byToken' && { token: idempotencyKey }),
      }),
    }),
    update: (id, desired, { labels }) => cloud.change(id, desired, hasLabels ? labels : undefined),
    remove: (id) => cloud.remove(id),
    ...(hasLabels && {
      async *list() {
        yield (await cloud.list()).map(({ id, labels, ...observed }) => ({ id, observed, labels }))
      },
    }),
  }
}

const place = { name: 'foo', namespace: 'default' }
const steps: readonly UserStep[] = [
  {
    name: 'wishes for a red shape',
    run: (user) =>
      user.create(Shape, {
        apiVersion: Shape.apiVersion,
        kind: 'Shape',
        metadata: place,
        spec: { color: 'red', size: 1 },
      }),
  },
  { name: 'wants it blue', run: async (user) => user.patch(await user.get(Shape, place), { spec: { color: 'blue' } }) },
  { name: 'gives it up', run: async (user) => user.delete(await user.get(Shape, place)) },
]

interface External {
  readonly cloud: CloudClient
}

function explored(capabilities: Capabilities, profile: ProfileName): ReturnType<typeof explore<External>> {
  const scenario: Omit<Scenario<External>, 'controllers'> = {
    name: 'shapes',
    steps,
    external: () => ({ cloud: new Cloud() as unknown as CloudClient }),
    services: { cloud: { reads: ['get', 'list'] } },
    ready: ({ spec, metadata: { uid } }, { external: { cloud } }) =>
      [...cloud.shapes.values()].some(
        ({ color, labels }) =>
          color === ((spec as { color?: string }).color ?? 'red') && (labels === undefined || labels.uid === uid),
      ),
  }
  const controllers = ({ external: { cloud } }: ProcessContext<External>): ControllerDeclaration[] => [
    {
      for: Shape,
      verbs: [
        external(driverOf(cloud, { consistencyWindowMs: 200, ...capabilities }), {
          instance: 'here',
          orphans: 'delete',
          callTimeoutMs: 1000,
          policy: { pollIntervalMs: 20_000 },
        }),
      ],
    } as unknown as ControllerDeclaration,
  ]
  return explore({ controllers, scenario, profile })
}

test.each([
  ['S1', 'evenkeel'],
  ['S2', 'evenkeel'],
  ['S3', 'evenkeel'],
  ['S2', 'k8s<=1.34'],
] as const)(
  'external is silent at tier 1 with %s on %s',
  async (strategy, profile) => {
    const result = await explored(capabilitySets[strategy], profile)
    expect(result.failures.length, formatReport(result)).toBe(0)
    expect(result.left).toBe(0)
    expect(result.schedules).toBeGreaterThan(100)
  },
  480_000,
)

const paint = { name: 'paint', namespace: 'default' }
const colorOf = (secret: { readonly data?: Readonly<Record<string, string>> } | undefined): string =>
  Buffer.from(secret?.data?.['color'] ?? '', 'base64').toString()
const dataOf = (color: string): { color: string } => ({ color: Buffer.from(color).toString('base64') })

test('F6: external with a need is silent at tier 1, and no fault makes a shape before its Secret is there', async () => {
  const painted: readonly UserStep[] = [
    ...steps.slice(0, 1),
    { name: 'creates its Secret', run: (user) => user.create(Secret, { metadata: paint, data: dataOf('red') }) },
    {
      name: 'changes its Secret',
      run: async (user) => user.patch(await user.get(Secret, paint), { data: dataOf('blue') }),
    },
    ...steps.slice(2),
  ]
  const unpainted: string[] = []
  const controllers = ({ external: { cloud } }: ProcessContext<External>): ControllerDeclaration[] => {
    const { desired: _, ...driver } = driverOf(cloud, { consistencyWindowMs: 200, ...capabilitySets.S2 })
    const secret = dependsOn(Secret, (shape: ShapeObject) => shape.spec.name ?? paint.name)
    const verb = external(
      {
        ...driver,
        desired: ({ spec: { size = 1 } }: ShapeObject, needs) => {
          const color = colorOf(needs.secret)
          if (color === '') unpainted.push('a shape without a color')
          return { color, size }
        },
      },
      {
        instance: 'here',
        orphans: 'delete',
        callTimeoutMs: 1000,
        policy: { pollIntervalMs: 20_000 },
        needs: { secret },
      },
    )
    return [{ for: Shape, verbs: [verb] }]
  }
  const result = await explore<External>({
    controllers,
    scenario: {
      name: 'painted shapes',
      steps: painted,
      external: () => ({ cloud: new Cloud() as unknown as CloudClient }),
      services: { cloud: { reads: ['get', 'list'] } },
    },
  })
  expect(result.failures.length, formatReport(result)).toBe(0)
  expect([result.left, unpainted]).toEqual([0, []])
  expect(result.schedules).toBeGreaterThan(100)
}, 480_000)
