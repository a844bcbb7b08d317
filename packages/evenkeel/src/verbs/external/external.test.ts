import { expect, test } from 'vitest'
import type { ControllerDeclaration } from '#controller'
import { external } from './external.ts'
import { Shape, ShapeSystem } from './session.fixture.ts'
import type { ExternalSource } from './source.ts'

test('the sweep of a controller for some namespaces runs under a key in the first of them', () => {
  const { driver } = new ShapeSystem().environment
  const keyFor = (more: object): unknown => {
    const declaration = { for: Shape, ...more } as unknown as ControllerDeclaration
    return (external(driver, { instance: 'here' }).adds?.(declaration).sources?.[0] as ExternalSource).sweepKey
  }
  expect(keyFor({})).toStrictEqual({ name: '(sweep of shapes)' })
  expect(keyFor({ namespaces: ['a', 'b'] })).toStrictEqual({ name: '(sweep of shapes)', namespace: 'a' })
})
