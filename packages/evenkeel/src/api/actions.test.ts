import { expect, test } from 'vitest'
import { checkActionDefinition, type ActionDefinition } from './actions.ts'

const state: ActionDefinition = { name: 'pause', form: 'state', patch: { spec: { paused: true } } }

test('checkActionDefinition returns a definition that is right', () => {
  expect(checkActionDefinition(state)).toBe(state)
  const operation: ActionDefinition = { name: 'restart', form: 'operation', ttlSeconds: 0, historyMax: 0 }
  expect(checkActionDefinition(operation)).toBe(operation)
})

test.each<[ActionDefinition, string]>([
  [{ name: 'pause', form: 'state' }, 'the action pause writes a state: give patch: { spec: { ... } }'],
  [{ ...state, patch: { status: {} } }, 'the action pause writes a state: give patch: { spec: { ... } }'],
  [{ name: 'restart', form: 'operation', patch: {} }, 'the action restart is no state, so it has no patch'],
  [{ ...state, name: 'Pause' }, 'the name of an action is a word in lower case, got "Pause"'],
  [{ ...state, name: 'log' }, 'an action cannot be called log: that is a subresource of its own'],
  [{ ...state, form: 'other' as never }, 'the form of the action pause is one of '],
  [{ name: 'restart', form: 'operation', ttlSeconds: -1 }, 'ttlSeconds and historyMax of the action restart'],
  [{ name: 'restart', form: 'operation', historyMax: 1.5 }, 'ttlSeconds and historyMax of the action restart'],
])('checkActionDefinition refuses %j', (definition, message) => {
  expect(() => checkActionDefinition(definition)).toThrow(message)
})
