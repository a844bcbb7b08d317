/**
 * The catalogue: every shape, by entry point.
 */
import type { Shape } from './shape.ts'
import { http1Shapes } from './shapes-http1.ts'
import { http2Shapes } from './shapes-http2.ts'
import { jsonShapes } from './shapes-json.ts'
import { kindShapes } from './shapes-kinds.ts'
import { applyShapes, patchShapes } from './shapes-patch.ts'
import { schemaShapes } from './shapes-schema.ts'
import { selectorShapes, tableShapes } from './shapes-selector.ts'
import { watchShapes } from './shapes-watch.ts'
import { protobufShapes, yamlShapes } from './shapes-yaml.ts'

export const shapes: readonly Shape[] = [
  ...jsonShapes,
  ...kindShapes,
  ...yamlShapes,
  ...protobufShapes,
  ...patchShapes,
  ...applyShapes,
  ...schemaShapes,
  ...selectorShapes,
  ...tableShapes,
  ...watchShapes,
  ...http1Shapes,
  ...http2Shapes,
]
