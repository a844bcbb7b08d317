/**
 * ResourceSlices: kept by their schema; kubelets and drivers select theirs by node and driver.
 */
import type { Hooks } from '../hooks.ts'
import { objectIn, textIn } from '../reading.ts'

export const resourceSliceRules: Hooks = {
  fields: {
    'spec.nodeName': (object) => textIn(objectIn(object, 'spec'), 'nodeName'),
    'spec.driver': (object) => textIn(objectIn(object, 'spec'), 'driver'),
  },
}
