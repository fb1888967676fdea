import protobuf from 'protobufjs';

/** What a span is made of in opentelemetry/proto/trace/v1 and common/v1 (version 1.7). */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message TracesData { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    int32 kind = 6;
    fixed64 start_time_unix_nano = 7;
    repeated KeyValue attributes = 9;
    Status status = 15;
  }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; } }
`);

/** Reads an export as an object of the same form as its JSON. The IDs are bytes. */
export function readProtobufExport(body: Buffer): object {
  const traces = root.lookupType('TracesData');
  return traces.toObject(traces.decode(body), { arrays: true, longs: String });
}
