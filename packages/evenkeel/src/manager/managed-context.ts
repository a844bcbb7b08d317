/**
 * What every manager adds to the context of a run: events for people, and the children of its object.
 */
import type { ChildrenContext } from '#verbs'
import type { EventContext } from './recorder-context.ts'

export type ManagedContext = ChildrenContext & EventContext
