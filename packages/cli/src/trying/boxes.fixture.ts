/**
 * A module for the Explorer: boxes on a shelf outside, with a right program and one that leaves things behind.
 */
import { defineKind } from 'evenkeel'
import type { ControllerDeclaration } from 'evenkeel'
import type { UserStep } from 'evenkeel/testing'

const Box = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Box',
  spec: { type: 'object', properties: { size: { type: 'integer' } } },
} as const)

interface Outside {
  readonly shelf: { put(name: string): Promise<void>; clear(name: string): Promise<void> }
}

class Shelf {
  readonly places = new Set<string>()

  put(name: string): void {
    this.places.add(name)
  }

  clear(name: string): void {
    this.places.delete(name)
  }
}

const place = { name: 'a', namespace: 'default' }
const steps: readonly UserStep[] = [
  { name: 'creates Box a', run: (user) => user.create(Box, { metadata: place, spec: { size: 1 } }) },
  { name: 'deletes Box a', run: async (user) => user.delete(await user.get(Box, place)) },
]

export const scenario = { name: 'boxes', steps, outside: () => ({ shelf: new Shelf() as unknown as Outside['shelf'] }) }

type Program = (process: { outside: Outside }) => readonly ControllerDeclaration[]

const program =
  (cleans: boolean): Program =>
  ({ outside: { shelf } }) => [
    {
      for: Box,
      reconcile: (box: { metadata: { name: string } }) => shelf.put(box.metadata.name),
      ...(cleans && { cleanup: (box: { metadata: { name: string } }) => shelf.clear(box.metadata.name) }),
    } as unknown as ControllerDeclaration,
  ]

export const controllers = program(true)
export const leaking = program(false)
