/**
 * Makes an object that every namespace has.
 */
import { findCause, isAlreadyExists, isNotFound } from '#api'

/** Makes it, unless somebody was faster, or its namespace is on its way out: then it is not wanted any more. */
export async function createUnlessTerminating(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    if (!isAlreadyExists(error) && !isNotFound(error) && findCause(error, 'NamespaceTerminating') === undefined)
      throw error
  }
}
