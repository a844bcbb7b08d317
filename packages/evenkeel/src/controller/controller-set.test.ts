import { describe, expect, test } from 'vitest'
import { watching } from './declaration.ts'
import type { ControllerDeclaration } from './declaration.ts'
import { ConfigMap, Gadget, Widget, World } from './world.fixture.ts'

test('54 two controllers with one name are refused, and the message names both', () => {
  const { controllers } = new World()
  controllers.add({ for: Widget, reconcile: () => undefined })
  expect(() => controllers.add({ name: 'widget', for: Gadget, reconcile: () => undefined })).toThrow(
    'two controllers have the name widget, one for Widget (test.dev/v1), one for Gadget (test.dev/v1): rename one of them',
  )
  controllers.add({ for: Gadget, reconcile: () => undefined })
  expect([...controllers].map(({ name }) => name)).toEqual(['widget', 'gadget'])
  expect(controllers.get('gadget')?.declaration.for).toBe(Gadget)
})

describe('a declaration that cannot be meant is refused', () => {
  test.each<[Partial<ControllerDeclaration>, string]>([
    [
      { name: 'My Controller' },
      'a controller\'s name consists of lower case letters, digits, dots and dashes, got "My Controller"',
    ],
    [{ name: 'x'.repeat(64) }, `got "${'x'.repeat(64)}"`],
    [{ timeoutMs: 0 }, 'timeoutMs of the controller widget must be a number above 0, got 0'],
    [{ stuckMs: -1 }, 'stuckMs of the controller widget must be a number above 0, got -1'],
    [{ concurrency: 1.5 }, 'the concurrency of the controller widget must be a whole number of 1 or more, got 1.5'],
    [{ resyncMs: Infinity }, 'resyncMs of the controller widget must be 0 or at least 1000, got Infinity'],
    [{ resyncMs: 999 }, 'resyncMs of the controller widget must be 0 or at least 1000, got 999'],
    [{ concurrency: 0 }, 'the concurrency of the controller widget must be a whole number of 1 or more, got 0'],
    [{ timeoutMs: Infinity }, 'timeoutMs of the controller widget must be a number above 0, got Infinity'],
    [{ resyncMs: 10 }, 'resyncMs of the controller widget must be 0 or at least 1000, got 10'],
    [{ verbs: { restart: {} } as never }, 'verbs of a controller must be a list: write verbs: [...]'],
    [{ owns: ConfigMap as never }, 'owns of the controller widget must be a list: write owns: [...]'],
    [{ reconcile: undefined as never }, 'the controller widget needs a reconcile'],
    [{ reconcileKey: () => undefined }, 'or a reconcileKey and no cleanup'],
    [
      { cleanup: () => undefined, finalizer: 'bare' },
      'the finalizer "bare" of Widget needs a domain: "demo.example.com/bare"',
    ],
    [{ cleanup: () => undefined, finalizer: 'a b/c' }, 'the finalizer "a b/c" of the controller widget is not allowed'],
    [
      {
        cleanup: [
          { finalizer: 'x/y', cleanup: () => undefined },
          { finalizer: 'x/y', cleanup: () => undefined },
        ],
      },
      'two cleanup steps of Widget have the finalizer x/y: give each its own',
    ],
  ])('%j', (change, message) => {
    expect(() =>
      new World().controllers.add({ for: Widget, reconcile: () => undefined, ...change } as ControllerDeclaration),
    ).toThrow(message)
  })
})

test('the types of kinds reach reconcile, map and status', () => {
  const { controllers } = new World()
  controllers.add({
    for: Widget,
    watches: [
      { kind: ConfigMap, map: ({ metadata }) => [{ name: metadata.name ?? '' }] },
      watching(ConfigMap, { map: ({ data }) => [{ name: data?.['for'] ?? '' }] }),
      // @ts-expect-error there is no such field
      watching(ConfigMap, { map: ({ colour }) => [{ name: String(colour) }] }),
    ],
    reconcile(widget, { status }) {
      const size: number | undefined = widget.spec.size
      status.set({ seen: size ?? 0 })
      // @ts-expect-error there is no such field
      status.set({ colour: 'red' })
      // @ts-expect-error a phase is a text
      status.set({ phase: 5 })
      // @ts-expect-error there is no such field
      void widget.spec.colour
      return { afterMs: 5 }
    },
  })
  controllers.add({
    name: 'other',
    for: Widget,
    // @ts-expect-error there is no requeue
    reconcile: () => ({ requeue: true }),
  })
})

test('a declaration may use the least and the longest of every option', () => {
  const { controllers } = new World()
  const declaration = { for: Widget, reconcile: () => undefined }
  const name = 'x'.repeat(63)
  expect(controllers.add({ ...declaration, name, concurrency: 1, timeoutMs: 1, stuckMs: 0.5 }).name).toBe(name)
  expect(controllers.add({ ...declaration, name: 'a', resyncMs: 1000 }).name).toBe('a')
  expect(controllers.add({ ...declaration, name: 'b', resyncMs: 0 }).name).toBe('b')
})
