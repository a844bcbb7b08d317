/**
 * The controller of parents: three ConfigMaps for each, and a status.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { Parent } from './kinds.ts'

export const childrenEach = 3

const controller: ControllerDeclaration<typeof Parent, ManagedContext> = {
  for: Parent,
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec: { text = '' } }, { children, status }) {
    for (let at = 0; at < childrenEach; at++)
      await children.apply(ConfigMap, { metadata: { name: `${name}-${at}` }, data: { text } })
    status.set({ made: childrenEach })
  },
}

export const parentController = controller as unknown as ControllerDeclaration
