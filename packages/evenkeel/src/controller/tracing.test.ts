import { expect, test } from 'vitest'
import { findTracing, silentTracing } from './tracing.ts'
import { Widget, World } from './world.fixture.ts'

/** As much of the package as is used, writing down what is asked of it. */
function fakeOpenTelemetry(): {
  api: unknown
  spans: { name: string; attributes: object; links: unknown[]; events: string[] }[]
} {
  const spans: { name: string; attributes: object; links: unknown[]; events: string[] }[] = []
  const startActiveSpan = (
    name: string,
    { attributes, links }: { attributes: object; links: unknown[] },
    work: (span: object) => unknown,
  ): unknown => {
    const span = { name, attributes, links, events: [] as string[] }
    const id = `span-${spans.push(span)}`
    return work({
      spanContext: () => id,
      setAttribute: () => undefined,
      recordException: (error: Error) => span.events.push(`exception ${error.message}`),
      setStatus: ({ code }: { code: number }) => span.events.push(`status ${code}`),
      end: () => span.events.push('end'),
    })
  }
  return { spans, api: { trace: { getTracer: () => ({ startActiveSpan }) } } }
}

test('findTracing makes a span of every reconcile, linked to those that caused it, ended also when it fails', async () => {
  const { api, spans } = fakeOpenTelemetry()
  const world = new World({ tracing: findTracing({ load: () => api }) })
  let runs = 0
  await world.start({
    for: Widget,
    reconcile: (_, { status }) => {
      status.set({ phase: 'Ready' })
      if (++runs === 2) throw new Error('no')
    },
  })
  world.api.put(Widget, 'one', { spec: {} })
  await world.clock.advance(100)
  expect(spans).toHaveLength(3)
  expect(spans[0]).toMatchObject({
    name: 'reconcile widget',
    attributes: {
      'evenkeel.controller': 'widget',
      'evenkeel.object': 'default/test.dev/Widget/a/one',
      'evenkeel.attempt': 0,
    },
    links: [],
    events: ['end'],
  })
  expect(spans[1]).toMatchObject({ links: [{ context: 'span-1' }], events: ['exception no', 'status 2', 'end'] })
  expect(spans[2]).toMatchObject({ attributes: { 'evenkeel.attempt': 1 }, links: [], events: ['end'] })
  await world.stop()
})

test.each<[string, () => unknown]>([
  [
    'is not there',
    () => {
      throw new Error('Cannot find module')
    },
  ],
  ['is something else', () => ({})],
  ['is nothing', () => undefined],
])('findTracing makes no spans when the package %s', (_, load) => {
  expect(findTracing({ load })).toBe(silentTracing)
})

test('findTracing: a tracer that throws does not keep the work from being done', async () => {
  const tracing = findTracing({
    load: () => ({
      trace: {
        getTracer: () => ({
          startActiveSpan: () => {
            throw new Error('no')
          },
        }),
      },
    }),
  })
  expect(await tracing.run({ name: 'x', attributes: {}, links: [] }, () => Promise.resolve(5))).toBe(5)
})

test('findTracing looks for the package by itself and does without it', async () => {
  expect(await findTracing().run({ name: 'x', attributes: {}, links: [] }, () => Promise.resolve(5))).toBe(5)
})
