/**
 * A program that blocks the event loop, explored in its own process.
 */
import { defineKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import { explore } from './explore.ts'

const Box = defineKind({ group: 'test.dev', version: 'v1', kind: 'Box', spec: { type: 'object', properties: {} } })

const forever = (): boolean => true
const controller: ControllerDeclaration<typeof Box> = {
  for: Box,
  reconcile() {
    while (forever());
  },
}

await explore({
  controllers: () => [controller as unknown as ControllerDeclaration],
  scenario: {
    name: 'boxes',
    blockedMs: 500,
    steps: [
      {
        name: 'creates Box a',
        run: (user) => user.create(Box, { metadata: { name: 'a', namespace: 'default' }, spec: {} }),
      },
    ],
  },
})
