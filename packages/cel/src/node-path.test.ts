import { expect, test } from 'vitest'
import { NodePath } from './node-path.ts'

const path = (...steps: readonly string[]): NodePath =>
  steps.slice(1).reduce((before, step) => NodePath.append(before, step), NodePath.of(steps[0] ?? ''))

test('the worked example in the header holds: appending to a path with free capacity overwrites its siblings', () => {
  const items = path('x', 'b', '@items')
  const first = NodePath.append(items, 'c')
  expect(first.steps()).toEqual(['x', 'b', '@items', 'c'])
  const second = NodePath.append(items, 'd')
  expect([first.steps(), second.steps()]).toEqual([
    ['x', 'b', '@items', 'd'],
    ['x', 'b', '@items', 'd'],
  ])
})

test('appending to a full path copies it, and so does separately', () => {
  const full = path('x', 'b')
  const first = NodePath.append(full, 'c')
  const second = NodePath.append(full, 'd')
  expect([first.steps().at(-1), second.steps().at(-1)]).toEqual(['c', 'd'])
  const items = path('x', 'b', '@items')
  const alone = items.separately('c')
  NodePath.append(items, 'd')
  expect(alone.steps()).toEqual(['x', 'b', '@items', 'c'])
})

test('append without a path starts one', () => {
  const started = NodePath.append(undefined, 'self')
  expect([started.first, started.steps()]).toEqual(['self', ['self']])
})
