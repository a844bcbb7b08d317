/**
 * Writes of ValidatingAdmissionPolicy and MutatingAdmissionPolicy objects and the complaints of Kubernetes 1.36 about them.
 */
import type { Case } from '../writes.fixture.ts'

const newValidatingAdmissionPolicy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'a' },
}
const newMutatingAdmissionPolicy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  metadata: { name: 'a' },
}

export const cases: readonly Case[] = [
  {
    name: 'ValidatingAdmissionPolicy',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
      },
    },
    errors: [],
  },
  {
    name: 'ValidatingAdmissionPolicy none',
    object: { ...newValidatingAdmissionPolicy, spec: {} },
    errors: [
      'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
      'spec.matchConstraints: Required value',
      'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy rules',
    object: { ...newValidatingAdmissionPolicy, spec: { matchConstraints: {}, validations: [{ expression: 'true' }] } },
    errors: ['spec.matchConstraints.resourceRules: Required value'],
  },
  {
    name: 'ValidatingAdmissionPolicy pk',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
        paramKind: { apiVersion: 'a/b/c', kind: 'A_b' },
      },
    },
    errors: [
      'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'spec.paramKind.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alph',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy pk2',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
        paramKind: { apiVersion: 'A_/V1' },
      },
    },
    errors: [
      "spec.paramKind.apiVersion: Invalid value: \"A_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.",
      'spec.paramKind.apiVersion: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an al',
      'spec.paramKind.kind: Required value',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy val',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [
          { expression: ' ', message: 'a\nb', reason: 'x' },
          { expression: 'true', message: ' ', messageExpression: ' ' },
        ],
      },
    },
    errors: [
      'spec.validations[0].expression: Required value: expression is not specified',
      'spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks',
      'spec.validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
      'spec.validations[1].message: Invalid value: " ": must be non-empty if specified',
      'spec.validations[1].messageExpression: Invalid value: " ": must be non-empty if specified',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy aa',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [],
        auditAnnotations: [
          { key: 'a', valueExpression: '"x"' },
          { key: 'a', valueExpression: '' },
          { key: 'a b', valueExpression: '"x"' },
        ],
      },
    },
    errors: [
      'spec.auditAnnotations[1].key: Duplicate value: "a"',
      'spec.auditAnnotations[1].valueExpression: Required value: valueExpression is not specified',
      "spec.auditAnnotations[2].key: Invalid value: \"a/a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and",
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy vars',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
        variables: [
          { name: '', expression: '' },
          { name: 'a-b', expression: '1' },
          { name: 'ok', expression: '1' },
        ],
      },
    },
    errors: [
      'spec.variables[0].expression: Required value: expression is not specified',
      'spec.variables[0].name: Required value: name is not specified',
      'spec.variables[1].name: Invalid value: "a-b": must be a valid CEL identifier',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy names',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              operations: ['CREATE'],
              apiGroups: [''],
              apiVersions: ['v1'],
              resources: ['pods'],
              resourceNames: ['a', 'a', 'b/c'],
            },
          ],
          excludeResourceRules: [{}],
          matchPolicy: 'x',
        },
        validations: [{ expression: 'true' }],
      },
    },
    errors: [
      'spec.matchConstraints.excludeResourceRules[0].apiGroups: Required value',
      'spec.matchConstraints.excludeResourceRules[0].apiVersions: Required value',
      'spec.matchConstraints.excludeResourceRules[0].operations: Required value',
      'spec.matchConstraints.excludeResourceRules[0].resources: Required value',
      'spec.matchConstraints.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"',
      'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
      'spec.matchConstraints.resourceRules[0].resourceNames[2]: Invalid value: "b/c": may not contain \'/\'',
    ],
  },
  {
    name: 'MutatingAdmissionPolicy bad',
    object: {
      ...newMutatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        reinvocationPolicy: '',
        mutations: [
          {},
          { patchType: 'X' },
          { patchType: 'JSONPatch' },
          { patchType: 'ApplyConfiguration', jsonPatch: { expression: '[]' } },
          { patchType: 'JSONPatch', jsonPatch: { expression: ' ' } },
        ],
      },
    },
    errors: [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
      'spec.mutations[0].patchType: Required value',
      'spec.mutations[1].patchType: Unsupported value: "X": supported values: "ApplyConfiguration", "JSONPatch"',
      'spec.mutations[2].jsonPatch: Required value: must be specified when patchType is JSONPatch',
      'spec.mutations[3].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration',
      'spec.mutations[3].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
      'spec.mutations[4].jsonPatch.expression: Required value',
      'spec.reinvocationPolicy: Required value',
    ],
  },
  {
    name: 'MutatingAdmissionPolicy none',
    object: {
      ...newMutatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        reinvocationPolicy: 'Never',
        mutations: [],
      },
    },
    errors: ['spec.mutations: Required value: mutations must contain at least one item'],
  },
  {
    name: 'ValidatingAdmissionPolicy syntax',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [
          { expression: 'true' },
          { expression: 'foo' },
          { expression: '1' },
          { expression: 'object.spec.replicas' },
        ],
      },
    },
    errors: [
      "spec.validations[1].expression: Invalid value: \"foo\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container ''",
      'spec.validations[2].expression: Invalid value: "1": must evaluate to bool but got int',
      'spec.validations[3].expression: Invalid value: "object.spec.replicas": must evaluate to bool but got dyn',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy instantiation',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: "int('x') == 1" }, { expression: "object.spec.x.matches('[')" }],
      },
    },
    errors: [
      "spec.validations[0].expression: Internal error: program instantiation failed: type conversion error from 'string' to 'int'",
      'spec.validations[1].expression: Invalid value: "object.spec.x.matches(\'[\')": compilation failed: ERROR: <input>:1:23: invalid matches argume',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy messages',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [
          { expression: 'true', messageExpression: '1' },
          { expression: 'true', messageExpression: "authorizer.path('/a').check('get').reason()" },
          { expression: 'true', messageExpression: "'a' + variables.b" },
        ],
      },
    },
    errors: [
      'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
      "spec.validations[1].messageExpression: Invalid value: \"authorizer.path('/a').check('get').reason()\": compilation failed: ERROR: <input>:1:1:",
      "spec.validations[2].messageExpression: Invalid value: \"'a' + variables.b\": compilation failed: ERROR: <input>:1:7: undeclared reference to '",
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy variables',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [
          { expression: 'variables.a == 1 && variables.b' },
          { expression: 'variables.zz' },
          { expression: 'variables.a' },
        ],
        variables: [
          { name: 'a', expression: '1' },
          { name: 'b', expression: 'variables.a + variables.c' },
          { name: 'd', expression: 'variables.a + "x"' },
          { name: 'in', expression: '1' },
          { name: 'list', expression: '[1, "a"]' },
        ],
      },
    },
    errors: [
      'spec.validations[1].expression: Invalid value: "variables.zz": compilation failed: ERROR: <input>:1:10: undefined field \'zz\'',
      'spec.validations[2].expression: Invalid value: "variables.a": must evaluate to bool but got int',
      'spec.variables[1].expression: Invalid value: "variables.a + variables.c": compilation failed: ERROR: <input>:1:24: undefined field \'c\'',
      'spec.variables[2].expression: Invalid value: "variables.a + \\"x\\"": compilation failed: ERROR: <input>:1:13: found no matching overload for ',
      'spec.variables[3].name: Invalid value: "in": must be a valid CEL identifier',
      'spec.variables[4].expression: Invalid value: "[1, \\"a\\"]": compilation failed: ERROR: <input>:1:5: expected type \'int\' but found \'string\'',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy no variables',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'variables.a == 1' }],
      },
    },
    errors: [
      'spec.validations[0].expression: Invalid value: "variables.a == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to \'variable',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy params',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'params.x == 1' }],
        matchConditions: [{ name: 'a', expression: 'params.y' }],
      },
    },
    errors: [
      'spec.matchConditions[0].expression: Invalid value: "params.y": compilation failed: ERROR: <input>:1:1: undeclared reference to \'params\' (in ',
      'spec.validations[0].expression: Invalid value: "params.x == 1": compilation failed: ERROR: <input>:1:1: undeclared reference to \'params\' (in',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy params given',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'params.x == 1', messageExpression: 'string(params.x)' }],
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConditions: [
          { name: 'a', expression: 'params.y == 1' },
          { name: 'b', expression: 'variables.x' },
          { name: 'c', expression: ' request.foo == 1 ' },
          { name: 'd', expression: "request.name == 'a' && namespaceObject.metadata.labels['a'] == 'b'" },
        ],
      },
    },
    errors: [
      'spec.matchConditions[1].expression: Invalid value: "variables.x": compilation failed: ERROR: <input>:1:1: undeclared reference to \'variables',
      'spec.matchConditions[2].expression: Invalid value: "request.foo == 1": compilation failed: ERROR: <input>:1:8: undefined field \'foo\'',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy annotations',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
        auditAnnotations: [
          { key: 'a', valueExpression: '1' },
          { key: 'b', valueExpression: ' null ' },
          { key: 'c', valueExpression: `'${'x'.repeat(6000)}'` },
          { key: 'd', valueExpression: ' object.x ' },
          { key: 'e', valueExpression: 'string(object.x)' },
        ],
      },
    },
    errors: [
      'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
      'spec.auditAnnotations[2].valueExpression: Required value: must not exceed 5120 bytes in length',
      'spec.auditAnnotations[3].valueExpression: Invalid value: " object.x ": must evaluate to one of [string null_type] but got dyn',
    ],
  },
  {
    name: 'ValidatingAdmissionPolicy types',
    object: {
      ...newValidatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        validations: [
          { expression: 'request.operation == 1' },
          { expression: 'namespaceObject.metadata.managedFields == []' },
          { expression: "authorizer.group('').resource('pods').check('get').allowed()" },
          { expression: 'authorizer.requestResource.check("x").allowed()' },
          { expression: 'Object{} == 1' },
          { expression: "jsonpatch.escapeKey('x') == ''" },
        ],
      },
    },
    errors: [
      'spec.validations[0].expression: Invalid value: "request.operation == 1": compilation failed: ERROR: <input>:1:19: found no matching overload',
      'spec.validations[1].expression: Invalid value: "namespaceObject.metadata.managedFields == []": compilation failed: ERROR: <input>:1:25: unde',
      'spec.validations[4].expression: Invalid value: "Object{} == 1": compilation failed: ERROR: <input>:1:7: undeclared reference to \'Object\' (in',
      "spec.validations[5].expression: Invalid value: \"jsonpatch.escapeKey('x') == ''\": compilation failed: ERROR: <input>:1:1: undeclared referenc",
    ],
  },
  {
    name: 'MutatingAdmissionPolicy mutations',
    object: {
      ...newMutatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        reinvocationPolicy: 'Never',
        mutations: [
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object.spec{}' } },
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'object' } },
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: 'Object{spec: Object.spec{replicas: 1}}' },
          },
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: ' Object{a: } ' } },
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Foo{a: 1}' } },
          { patchType: 'JSONPatch', jsonPatch: { expression: '[]' } },
          { patchType: 'JSONPatch', jsonPatch: { expression: 'JSONPatch{op: "a"}' } },
          { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: 1}]' } },
          {
            patchType: 'JSONPatch',
            jsonPatch: { expression: '[JSONPatch{op: "add", path: "/a" + jsonpatch.escapeKey("x"), value: object.b}]' },
          },
          { patchType: 'JSONPatch', jsonPatch: { expression: 'object.x ? [JSONPatch{op: "add", path: "/x"}] : []' } },
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'object.x ? Object{} : Object{a: 1}' } },
        ],
      },
    },
    errors: [
      'spec.mutations[0].applyConfiguration.expression: Invalid value: "Object.spec{}": must evaluate to Object but got Object.spec',
      'spec.mutations[1].applyConfiguration.expression: Invalid value: "object": must evaluate to Object but got dyn',
      'spec.mutations[3].applyConfiguration.expression: Invalid value: "Object{a: }": compilation failed: ERROR: <input>:1:11: Syntax error: mismat',
      'spec.mutations[4].applyConfiguration.expression: Invalid value: "Foo{a: 1}": compilation failed: ERROR: <input>:1:4: undeclared reference to',
      'spec.mutations[5].jsonPatch.expression: Invalid value: "[]": must evaluate to list(JSONPatch) but got list(dyn)',
      'spec.mutations[6].jsonPatch.expression: Invalid value: "JSONPatch{op: \\"a\\"}": must evaluate to list(JSONPatch) but got JSONPatch',
      'spec.mutations[7].jsonPatch.expression: Invalid value: "[JSONPatch{op: 1}]": compilation failed: ERROR: <input>:1:14: expected type of field',
    ],
  },
  {
    name: 'MutatingAdmissionPolicy mutation variables',
    object: {
      ...newMutatingAdmissionPolicy,
      spec: {
        matchConstraints: {
          resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
        },
        reinvocationPolicy: 'Never',
        mutations: [
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'variables.o' } },
          { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{a: variables.p}' } },
        ],
        variables: [
          { name: 'o', expression: 'Object{}' },
          { name: 'p', expression: '1' },
        ],
        matchConditions: [{ name: 'x', expression: 'Object{} == object' }],
      },
    },
    errors: [
      'spec.matchConditions[0].expression: Invalid value: "Object{} == object": compilation failed: ERROR: <input>:1:7: undeclared reference to \'Ob',
      'spec.mutations[0].applyConfiguration.expression: Invalid value: "variables.o": must evaluate to Object but got dyn',
      'spec.variables[0].expression: Invalid value: "Object{}": compilation failed: ERROR: <input>:1:7: undeclared reference to \'Object\' (in contai',
    ],
  },
]
