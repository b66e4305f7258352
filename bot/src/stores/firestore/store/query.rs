//! Builds queries in Firestore's format.

use firestore::gcloud_sdk::google::firestore::v1::structured_aggregation_query::{Aggregation, QueryType, aggregation};
use firestore::gcloud_sdk::google::firestore::v1::structured_query::{
    CollectionSelector, Direction, FieldFilter, FieldReference, Filter, Order, field_filter, filter,
};
use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{
    AggregationResult, ArrayValue, StructuredAggregationQuery, StructuredQuery, Value,
};

use super::document::{DocumentFilter, DocumentLimit};

/// The name of a document, as a field to order by.
const NAME: &str = "__name__";
/// The name of a count in the response.
const COUNT: &str = "count";

pub fn structured(collection_id: String, wanted: &DocumentFilter, limit: DocumentLimit) -> StructuredQuery {
    let text = |text: &str| Value { value_type: Some(ValueType::StringValue(text.to_owned())) };
    let (field, op, value) = match wanted {
        DocumentFilter::All => (None, field_filter::Operator::Unspecified, None),
        DocumentFilter::Is(field, value) => (Some(field), field_filter::Operator::Equal, Some(text(value))),
        DocumentFilter::IsNot(field, value) => (Some(field), field_filter::Operator::NotEqual, Some(text(value))),
        DocumentFilter::HasAny(field, values) if values.len() == 1 => {
            (Some(field), field_filter::Operator::ArrayContains, Some(text(&values[0])))
        }
        DocumentFilter::HasAny(field, values) => {
            let values = ArrayValue { values: values.iter().map(|value| text(value)).collect() };
            let values = Value { value_type: Some(ValueType::ArrayValue(values)) };
            (Some(field), field_filter::Operator::ArrayContainsAny, Some(values))
        }
    };
    let filter = field.map(|field| Filter {
        filter_type: Some(filter::FilterType::FieldFilter(FieldFilter {
            field: Some(FieldReference { field_path: (*field).to_owned() }),
            op: op.into(),
            value,
        })),
    });
    let by_name = Order {
        field: Some(FieldReference { field_path: NAME.to_owned() }),
        direction: if matches!(limit, DocumentLimit::Last(_)) { Direction::Descending } else { Direction::Ascending }
            .into(),
    };
    StructuredQuery {
        from: vec![CollectionSelector { collection_id, all_descendants: false }],
        r#where: filter,
        // Results of an inequality are ordered by its field.
        order_by: if matches!(wanted, DocumentFilter::IsNot(..)) { Vec::new() } else { vec![by_name] },
        limit: match limit {
            DocumentLimit::None => None,
            DocumentLimit::First(count) | DocumentLimit::Last(count) => Some(i32::try_from(count).unwrap_or(i32::MAX)),
        },
        ..Default::default()
    }
}

pub fn counted(query: StructuredQuery) -> StructuredAggregationQuery {
    let count = Aggregation {
        alias: COUNT.to_owned(),
        operator: Some(aggregation::Operator::Count(aggregation::Count { up_to: None })),
    };
    StructuredAggregationQuery { aggregations: vec![count], query_type: Some(QueryType::StructuredQuery(query)) }
}

pub fn count_of(result: &AggregationResult) -> u64 {
    match result.aggregate_fields.get(COUNT).and_then(|value| value.value_type.as_ref()) {
        Some(ValueType::IntegerValue(count)) => u64::try_from(*count).unwrap_or_default(),
        _ => 0,
    }
}
