import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseProto } from './proto.ts'
import { makeTables } from './tables.ts'

const metaProto = `syntax = "proto2";
package k8s.io.apimachinery.pkg.apis.meta.v1;
option go_package = "k8s.io/apimachinery/pkg/apis/meta/v1";
message Time {
  optional int64 seconds = 1;
}
message Verbs {
  repeated string items = 1;
}
`

const shopProto = `syntax = "proto2";
package k8s.io.api.shop.v1;
import "k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto";
option go_package = "k8s.io/api/shop/v1";
// A thing to sell.
message Item {
  optional string title = 2;
  optional int32 price = 1;
  optional bool sold = 3;
  repeated Part parts = 4;
  map<string, string> notes = 5;
  optional Part part = 6;
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.Time since = 7;
  optional .k8s.io.apimachinery.pkg.apis.meta.v1.Verbs verbs = 8;
}
message Part {
}
`

const shopGo = `package v1
/* type Item struct { */
const GroupName = "shop.example.com"
// A thing, even */ this.
type Item struct {
	metav1.TypeMeta \`json:",inline"\`
	// Title string \`json:"no" protobuf:"bytes,2,opt,name=no"\`
	Title string \`json:"name" protobuf:"bytes,2,opt,name=title"\`
	Price *int32 \`json:"price,omitempty" protobuf:"varint,1,opt,name=price"\`
	Sold bool \`json:"sold,omitempty" protobuf:"varint,3,opt,name=sold"\`
	Parts []Part \`json:"parts" protobuf:"bytes,4,rep,name=parts"\`
	Notes map[string]string \`json:"notes,omitempty" protobuf:"bytes,5,rep,name=notes"\`
	Part \`json:",inline" protobuf:"bytes,6,opt,name=part"\`
	Since metav1.Time \`json:"since" protobuf:"bytes,7,opt,name=since"\`
	Verbs metav1.Verbs \`json:"verbs" protobuf:"bytes,8,opt,name=verbs"\`
}

type Part struct{}
`

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'generate-protobuf-'))
  write('k8s.io/apimachinery@v0.0.1/pkg/apis/meta/v1/types.go', 'package v1\n\ntype Verbs []string\n')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('makeTables', () => {
  test('joins numbers and types with JSON names, pointers and omitted zeros', () => {
    write('k8s.io/api/shop/v1/types.go', shopGo)
    expect(tablesOf(shopProto)).toEqual([
      {
        apiVersion: 'shop.example.com/v1',
        goPackage: 'k8s.io/api/shop/v1',
        lines: [
          'Item! price=1*int32 name=2string sold=3?bool parts=4[]Part notes=5{}string =6Part since=7time verbs=8texts',
          'Part',
        ],
      },
    ])
  })

  test('follows a type to the package that declares it', () => {
    write('k8s.io/api/shop/v1/types.go', shopGo)
    write(
      'k8s.io/api/shop/v2/types.go',
      'package v2\n\nimport (\n\told "k8s.io/api/shop/v1"\n)\n\nconst GroupName = "shop.example.com"\n\ntype Item old.Item\ntype Part = old.Part\n',
    )
    const [first, second] = tablesOf(
      shopProto,
      shopProto.replaceAll('shop.v1', 'shop.v2').replaceAll('shop/v1', 'shop/v2'),
    )
    expect(second).toMatchObject({ apiVersion: 'shop.example.com/v2', lines: first?.lines })
  })

  test.each([
    ['a field that Go does not have', shopGo.replace('varint,3', 'varint,30'), 'has no field with number 3 (sold)'],
    ['a message that Go does not have', shopGo.replace('type Part struct', 'type Other struct'), 'has no struct Part'],
    [
      'a field without a JSON name',
      shopGo.replace('json:"sold,omitempty"', 'json:",omitempty"'),
      'field sold has no JSON name',
    ],
  ])('rejects %s', (_, go, message) => {
    write('k8s.io/api/shop/v1/types.go', go)
    expect(() => tablesOf(shopProto)).toThrow(message)
  })

  test('rejects a duplicate module', () => {
    write('k8s.io/api/shop/v1/types.go', shopGo)
    write('k8s.io/api@v0.0.2/shop/v1/types.go', shopGo)
    expect(() => tablesOf(shopProto)).toThrow('should hold the module api once, found: api, api@v0.0.2')
  })
})

test.each([
  'enum Colour {',
  'message Item {\n  oneof x {',
  'message Item {\n  optional string name = 1 [packed = true];',
])('parseProto rejects unknown syntax: %s', (text) => {
  expect(() => parseProto(`${metaProto}${text}\n`)).toThrow('cannot read this')
})

function tablesOf(...protos: string[]): unknown[] & { lines?: unknown }[] {
  const files = [metaProto, ...protos].map(parseProto)
  return makeTables(files, { goFolder: folder, isWanted: (apiVersion) => apiVersion.startsWith('shop.') })
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
